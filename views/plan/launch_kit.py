"""The launch kit of the row on view: the files that start it, by tool."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.launch.kit import Kit, comment, kits, not_to_launch
from calc.files.launch.specs import kit_specs
from calc.files.launch_files import files_of, zip_files
from calc.say.answer_name import answer_name
from calc.say.setting import name_of
from views.session import kept_answers
from views.session.present_plan import Present
from views.session.recent_results import recent_result
from views.shared.elements import expander, segments
from views.shared.markdown import plain
from views.shared.tables import file_name

LANGUAGES = {
    "json": "json",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "sh": "bash",
    "csv": None,
}
CSV_TEXT = "The row with every input and result: python -m calc reads it again."


def panel(plan: Present, catalogs: Catalogs) -> None:
    """Closed until it is wanted: the kits are written, and read back, when it is opened."""
    expander(
        "Launch kit: the files that start it",
        "launch_kit",
        lambda: _kits(plan, catalogs),
        icon=":material/rocket_launch:",
    )


def _kits(plan: Present, catalogs: Catalogs) -> None:
    """Draw the choice of a tool, its files, and what they cannot express."""
    if reason := not_to_launch(plan.row):
        st.markdown(plain(f"{reason} No files are written for it."))
        return
    row = _tagged_row(plan, catalogs)
    resolved = plan.options.resolved
    allowed = resolved.fixed.get("instance", ()) if resolved else ()
    result = recent_result(
        "kits",
        (row, plan.market, allowed, catalogs.version),
        lambda: kits(row, catalogs, plan.market, allowed),
    )
    if not result:
        software = name_of("implementation", plan.row["implementation"], catalogs)
        tools = ", ".join(spec.name for spec in kit_specs())
        st.markdown(
            f"No files are written for {software} set up so; they are for {tools}. Set the "
            "software or the sharding by hand."
        )
        return
    names = {kit.id: kit.name for kit in result}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tool = segments("Tool", names, "kit_tool", default=result[0].id, width="content")
        kit = next((option for option in result if option.id == tool), result[0])
        files = files_of(kit, row, plan.market)
        st.download_button(
            "Launch kit, zip",
            zip_files(files),
            file_name(f"headroom-{plan.row['model']}-{kit.id}", "zip"),
            mime="application/zip",
            on_click="ignore",
            icon=":material/download:",
            key="kit_zip",
        )
    _kit(kit, files)


def _kit(kit: Kit, files: dict[str, bytes]) -> None:
    """Draw what a kit is, what it cannot express, and its files."""
    st.markdown(plain(_summary(kit)))
    if kit.differences:
        st.warning(
            plain("\n".join(f"- {comment(option, kit.name)}" for option in kit.differences)),
            icon=":material/rule:",
        )
    for tab, (name, content) in zip(st.tabs(list(files)), files.items(), strict=True):
        text = CSV_TEXT if name.endswith(".csv") else content.decode()
        with tab:
            st.code(text, language=LANGUAGES[name.rpartition(".")[2]], wrap_lines=True)


def _tagged_row(plan: Present, catalogs: Catalogs) -> Row:
    """The row with the name that tags what it rents: of the kept answer, else of the answer."""
    place = kept_answers.place_of(plan.row)
    name = answer_name(plan.row, catalogs) if place is None else kept_answers.entries()[place].name
    return {**plan.row, "scenario": name}


def _summary(kit: Kit) -> str:
    """Return what was found by reading the files back."""
    if kit.differences:
        return "Read back by Headroom the files give this scenario, but for:"
    return (
        "Read back by Headroom the files give this very scenario. Names in them that begin with "
        "your- are to be filled in."
    )
