"""A sweep on Spark has the rows of one in this process, whatever task computed them."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lag.history.store import History
from lag.pipeline import sweep
from lag.sweeps import local, sweep_table
from lag.sweeps.plan import Plan
from lag.sweeps.sweep_table import SweepHeader
from tests.app.views.swept import AT, REQUEST, groups

pytestmark = pytest.mark.timeout(600)
ORDER = [(name, "ascending") for name in ("group_id", "assignor", "members", "failure")]


def test_rows_of_spark_are_those_of_this_process_and_a_second_run_adds_none(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, header = Plan(groups(), REQUEST), SweepHeader("one", "made-up", AT)
    monkeypatch.setattr(sweep, "MIN_CASES", 60)  # two jobs
    found = list(sweep.run(spark, plan, header))
    assert [len(portion) for portion in found] == [60, 48]
    mine = pa.concat_tables(local.run(plan, header))
    assert pa.concat_tables(found).sort_by(ORDER).equals(mine.sort_by(ORDER))
    history = History(tmp_path)
    for _ in range(2):
        assert sweep_table.write(history, header, sweep_table.groups(plan), found) == {
            "sweep_groups": 3,
            "sweeps": len(plan),
        }
    assert history.query("SELECT count(*) AS n FROM sweeps", "sweeps")["n"][0].as_py() == len(plan)
