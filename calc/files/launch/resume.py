"""Resuming a training command from its last complete checkpoint."""

# transformers writes trainer_state.json after weights, optimizer and random state: where it is, the checkpoint is whole.
LAST = "LAST=$(ls -d checkpoints/checkpoint-*/trainer_state.json 2>/dev/null | sort -V | tail -n 1 || true)"
COPIED = '[ -z "${BUCKET:-}" ] || aws s3 sync --only-show-errors "s3://$BUCKET/checkpoints" checkpoints'
INSERTED = {  # the field as the first of its file, in place of an earlier one
    "json": """-e '/"resume_from_checkpoint"/d' -e "1a \\"resume_from_checkpoint\\": \\"${LAST%/*}\\"," """,
    "yaml": """-e "1i resume_from_checkpoint: ${LAST%/*}" -e "/^resume_from_checkpoint:/d" """,
}


def resuming(file: str, form: str, spot: bool) -> str:
    """Shell lines that fetch the checkpoints and point `file` to the last one.

    Empty `file`: the tool searches by itself.
    """
    lines = [LAST, f'[ -z "$LAST" ] || sed -i {INSERTED[form]}{file}'] if file else []
    return "".join(f"{line}\n" for line in [*([COPIED] if spot else []), *lines])
