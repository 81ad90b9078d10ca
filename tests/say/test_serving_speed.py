"""The speed of serving is in the unit of what is served."""

import re

import pytest
from examples import catalogs

from calc import answer
from calc.say.speed import serving_speed

NUMBER = re.compile(r"[\d,.]+")


def first_row(**job):
    return answer({"work": "inference"} | job, catalogs()).iloc[0].to_dict()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("model", "amount", "unit", "seconds"),
    [
        ("whisper-large-v3", "2000 hours", "hours of sound an hour", 3600),
        ("siglip2-so400m-patch14-384", "5000000 images", "images a second", 1),
        ("llama-3.1-8b", "1e9", "tokens a second", 1),
    ],
)
def test_offline_work_at_its_speed_takes_the_time_of_the_run(model, amount, unit, seconds):
    row = first_row(model=model, tokens_total=amount)
    speed = serving_speed(row, catalogs())
    rate = float(NUMBER.match(speed)[0].replace(",", "")) / seconds
    assert speed.endswith(unit)
    run_seconds = 3600 * (row["run_hours"] - row["start_hours"])
    assert float(amount.split()[0]) / rate == pytest.approx(run_seconds, rel=0.01)


def test_a_transcriber_says_how_long_its_sound_takes_and_a_generator_its_tokens():
    row = first_row(model="whisper-large-v3", users=8)
    speed = serving_speed(row, catalogs())
    assert speed.endswith(" for 30 s of sound")
    answer_tokens = row["sequence_tokens"] - row["prompt_tokens"]
    first, token = row["time_to_first_token_seconds"], row["time_per_output_token_seconds"]
    said = float(NUMBER.match(speed)[0])
    assert said == pytest.approx(first + (answer_tokens - 1) * token, rel=0.02)
    assert serving_speed(first_row(model="qwen3-32b", users=8), catalogs()).endswith(" a token")
    encoder = first_row(model="bge-m3", requests_per_second=20)
    assert serving_speed(encoder, catalogs()).endswith(" a batch")
