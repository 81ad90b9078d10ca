"""`python -m calc import`: files in, a scenario CSV out that `python -m calc` reads; what cannot be read is one sentence."""

import pytest
from examples import catalogs, written

from calc.__main__ import main
from calc.files.configs.problem import LARGEST_BYTES, ConfigProblem
from calc.files.configs.run import run_row
from calc.scenarios.inputs import BY_NAME

GOOD = "model_name_or_path: gpt2\nmax_length: 512\nper_device_train_batch_size: 2\n"


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    """The catalogs are read once for all tests of this process."""
    monkeypatch.setattr("calc.__main__.load_catalogs", catalogs)


def test_the_output_is_a_scenario_csv(tmp_path):
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "serve.sh").write_text("vllm serve openai/gpt-oss-20b --max-model-len 4096\n", encoding="utf-8")
    (tmp_path / "launch.sh").write_text("torchrun --nproc_per_node 2 train.py\n", encoding="utf-8")
    runs = [f"{tmp_path / 'a.yaml'}+{tmp_path / 'launch.sh'}", str(tmp_path / "serve.sh")]
    assert main(["import", *runs, "-o", str(tmp_path / "s.csv")]) == 0
    rows = written(tmp_path / "s.csv")
    assert [(row["model"], row["gpus"], row["work"]) for row in rows] == [("gpt2", "2", "training"), ("gpt-oss-20b", "1", "inference")]
    assert main([str(tmp_path / "s.csv"), "-o", str(tmp_path / "e.csv")]) == 0
    for row, estimated in zip(rows, written(tmp_path / "e.csv"), strict=True):
        assert estimated["problem"] == ""
        assert float(estimated["memory_bytes"]) > 0
        assert all(estimated[name] == row[name] for name in BY_NAME if row[name])
        assert estimated["source_file"] == row["source_file"]


def test_a_bad_file_has_its_sentence_and_the_others_are_read(tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.json").write_text('{"zero_optimization": {', encoding="utf-8")
    assert main(["import", str(tmp_path / "b.json"), str(tmp_path / "a.yaml"), "-o", str(tmp_path / "s.csv")]) == 0
    bad, good = written(tmp_path / "s.csv")
    assert bad["problem"].startswith(f"{tmp_path / 'b.json'}: this is not JSON")
    assert (bad["model"], good["model"], good["problem"]) == ("", "gpt2", "")
    assert capsys.readouterr().err.strip() == bad["problem"]


def test_nothing_readable_is_two_and_writes_nothing(tmp_path, capsys):
    assert main(["import", str(tmp_path / "no.yaml"), str(tmp_path), "-o", str(tmp_path / "s.csv")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("No such file or directory; check the path.")
    assert "is a folder" in said[1]
    assert not (tmp_path / "s.csv").exists()


FAULTS = [
    ("a.yaml", b"a: &x 1\nb: *x\n", "anchors and aliases"),
    ("a.yaml", b"a: !!python/object:os.system x\n", "the tag"),
    ("a.yaml", b"a: 1\na: 2\n", "a stands twice"),
    ("a.yaml", b"a: {<<: {b: 1}}\n", "a key must be a plain word"),
    ("a.yaml", b"a: [1\n", "is not YAML"),
    ("a.yaml", b"a: " + b"[" * 5000, "nested deeper"),
    ("a.yaml", b"- 1\n", "holds no fields"),
    ("a.json", b'{"a": ' + b"[" * 100_000, "nested deeper"),
    ("a.json", b'{"a": 1, "a": 2}', "stands twice"),
    ("a.json", b'{"a": ' * 40 + b"1" + b"}" * 40, "nested deeper"),
    ("a.toml", b"a = \n", "is not TOML"),
    ("a.sh", b"vllm serve 'gpt2\n", "does not end its quotes"),
    ("a.sh", b"lmdeploy serve api_server gpt2\n", "read are accelerate config, axolotl"),
    ("a.sh", b"vllm serve gpt2 --max-model-len 5 --max-model-len 6\n", "stands twice"),
    ("a.yaml", b"some: 1\nother: 2\n", "those of no tool that is read"),
    ("a.yaml", b"", "is empty"),
    ("a.yaml", b"\xff\xfe", "is not UTF-8"),
    ("a.yaml", b"a\x00b", "zero bytes"),
    ("a.yaml", b"#" * (LARGEST_BYTES + 1), "more than 1,000,000 bytes"),
]


@pytest.mark.parametrize(("name", "content", "said"), FAULTS)
def test_a_file_that_cannot_be_read_is_one_sentence(name, content, said):
    with pytest.raises(ConfigProblem, match=said) as error:
        run_row([(name, content)], catalogs())
    assert str(error.value).startswith(name)
    assert str(error.value).endswith(".")


CELLS = [
    ("per_device_train_batch_size: four", "is 'four', not a number"),
    ("per_device_train_batch_size: 2.5", "not a whole number"),
    ("per_device_train_batch_size: ${BATCH}", "holds the variable"),
    ("per_device_train_batch_size: .inf", "not a number"),
]


@pytest.mark.parametrize(("line", "said"), CELLS)
def test_a_value_that_cannot_be_read_leaves_its_column_open(line, said):
    row = run_row([("a.yaml", f"model_name_or_path: gpt2\nmax_length: 512\n{line}\n".encode())], catalogs())
    assert said in row["problem"]
    assert row["batch"] == ""
    assert (row["model"], row["sequence_tokens"]) == ("gpt2", "512")


def test_an_unknown_model_is_named_with_the_nearest_and_two_files_that_differ_are_told():
    row = run_row([("a.yaml", GOOD.replace("gpt2", "Qwen/Qwen2.5-Forest-32B-Instruct").encode())], catalogs())
    assert "Qwen/Qwen2.5-Forest-32B-Instruct is not in the catalog, the nearest is qwen2.5-32b" in row["problem"]
    deepspeed = b'{"zero_optimization": {"stage": 2}, "gradient_accumulation_steps": 4, "train_micro_batch_size_per_gpu": 2}'
    row = run_row([("a.yaml", (GOOD + "gradient_accumulation_steps: 2\n").encode()), ("d.json", deepspeed)], catalogs())
    assert row["accumulation_steps"] == "2"
    assert row["problem"] == "d.json, gradient_accumulation_steps: 4 here and 2 in a.yaml; 2 was taken, make them equal."
