"""Batches: every case runs once, and its row does not depend on who computed it."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from tests.reproduction import toy
from tests.reproduction.toy import Toy
from threadpoolctl import threadpool_info

from seqspan import OSC
from seqspan.reproduction._batch import Workers, make_generator, run_cases, run_group
from seqspan.reproduction._rows import RowFile, format_value, make_key

ROOT = Path(__file__).parents[2]


def open_toy(folder):
    return RowFile(folder / "toy.csv", Toy.columns, Toy.case_columns)


def run_toy(folder, cases, **options):
    """Run cases and return the rows that are new."""
    new = []
    with open_toy(folder) as file:
        run_cases(Toy(), cases, file, Workers(**options), new.append)
    return new


def read_rows(folder):
    """What a reader of the file sees, without times and processes: {(seed, method): value}."""
    with (folder / "toy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    values = {(row["seed"], row["method"]): row["value"] for row in rows}
    assert len(values) == len(rows), "a case has two rows"
    return values


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    run_toy(folder, toy.grid(40))
    return read_rows(folder)


def test_a_seed_is_the_hash_of_the_parameters_it_is_drawn_by():
    case = {"seed": 3, "level": 4.0, "method": "a"}
    written = json.dumps(["seqspan.experiments.toy", {"level": "4", "seed": "3"}], sort_keys=True).encode()
    seed = int.from_bytes(hashlib.sha256(written).digest()[:16], "big")
    found = make_generator("toy", case, ("seed", "level"))
    assert found.random() == np.random.default_rng(seed).random()


def test_seeds_differ_between_cases_and_experiments():
    draws = {
        make_generator(name, {"seed": seed}, ["seed"]).random()
        for name in ("one", "two")
        for seed in range(50)
    }
    assert len(draws) == 100


def test_a_case_and_its_row_have_the_same_key():
    case = {"seed": 1, "psnr": 30.0, "mean": 0.1, "weight": None, "level": float("inf")}
    names = tuple(case)
    assert make_key(case, names) == make_key({name: format_value(case[name]) for name in names}, names)


def test_rows_do_not_depend_on_the_number_of_jobs_or_the_order(tmp_path, undisturbed):
    cases = toy.grid(40)
    random.Random(1).shuffle(cases)
    rows = run_toy(tmp_path, cases, n_jobs=2)
    assert read_rows(tmp_path) == undisturbed
    assert len({row["process"] for row in rows}) == 2


def test_cases_that_share_a_draw_get_the_same_generator(undisturbed):
    assert all(undisturbed[str(seed), "a"] == undisturbed[str(seed), "b"] for seed in range(40))
    assert len(set(undisturbed.values())) == 40


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_job_computes_in_one_thread(tmp_path, n_jobs):
    OSC(2).fit(np.random.default_rng(0).random((12, 5)))  # its limit is over, and BLAS as free as it was
    rows = run_toy(tmp_path, toy.grid(3), n_jobs=n_jobs)
    assert {row["threads"] for row in rows} == {1}


def test_threads_are_as_before_after_a_run_in_this_process(tmp_path):
    before = [pool["num_threads"] for pool in threadpool_info()]
    run_toy(tmp_path, toy.grid(1))
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_a_changed_grid_runs_what_is_new_alone(tmp_path):
    assert len(run_toy(tmp_path, toy.grid(3))) == 6
    new = run_toy(tmp_path, toy.grid(4, methods=("a", "b", "c")))
    assert {(row["seed"], row["method"]) for row in new} == {
        (0, "c"),
        (1, "c"),
        (2, "c"),
        (3, "a"),
        (3, "b"),
        (3, "c"),
    }
    assert run_toy(tmp_path, toy.grid(4, methods=("a", "b", "c"))) == []


def test_a_case_given_twice_runs_once(tmp_path):
    assert len(run_toy(tmp_path, toy.grid(2) + toy.grid(2))) == 4


def test_a_file_cut_off_anywhere_loses_its_last_row_at_most(tmp_path):
    run_toy(tmp_path, toy.grid(2))
    path = tmp_path / "toy.csv"
    content = path.read_bytes()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        whole = max(content[:length].count(b"\n") - 1, 0)
        with open_toy(tmp_path) as file:
            assert len(file.rows) == whole
            file.append({"seed": 9, "method": "z", "value": 0.5, "threads": 1, "process": 1})
        lines = path.read_bytes().splitlines()
        assert lines[:-1] == content.splitlines()[: whole + 1]
        assert lines[-1] == b"9,z,0.5,1,1"


def test_only_one_run_at_a_time_may_write(tmp_path):
    with (
        open_toy(tmp_path),
        pytest.raises(OSError, match=r"toy.csv: another run is writing to it"),
        open_toy(tmp_path),
    ):
        pass
    with open_toy(tmp_path):  # and the file is free again
        pass


def test_other_columns_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text("seed,error\n1,0.5\n")
    with pytest.raises(ValueError, match=r"toy.csv: has the columns seed, error"), open_toy(tmp_path):
        pass
    assert path.read_text() == "seed,error\n1,0.5\n"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_case_that_fails_is_named_and_finished_rows_stay(tmp_path, n_jobs):
    run_toy(tmp_path, toy.grid(2))
    with pytest.raises(RuntimeError, match="the case seed=0, method=fails failed: no luck"):
        run_toy(tmp_path, toy.grid(1, methods=("fails",)), n_jobs=n_jobs)
    assert len(read_rows(tmp_path)) == 4


def start_toy(folder, seeds, n_jobs):
    command = [sys.executable, "-m", "tests.reproduction.toy", str(folder), str(seeds), str(n_jobs)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, start_new_session=True, stderr=subprocess.DEVNULL
    )


def kill_at_random(process, folder, chance):
    """Kill a run, workers included, some cases after its start: in the middle of one, or of writing a row."""
    log = folder / "log"
    before = len(log.read_text().splitlines()) if log.exists() else 0
    wanted = before + chance.randint(0, 8)
    while process.poll() is None and not (folder / "started").exists():
        time.sleep(0.002)
    while process.poll() is None and wanted > (len(log.read_text().splitlines()) if log.exists() else 0):
        time.sleep(0.002)
    time.sleep(chance.uniform(0, 0.03))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return (
        {tuple(line.split(",")) for line in log.read_text().splitlines()[before:]} if log.exists() else set()
    )


def test_a_run_killed_four_times_equals_an_undisturbed_one(tmp_path, undisturbed):
    chance = random.Random(7)
    finished: set[tuple[str, ...]] = set()
    for n_jobs in (2, 1, 1, 2):
        (tmp_path / "started").unlink(missing_ok=True)
        begun_before = (tmp_path / "log").read_text().splitlines() if (tmp_path / "log").exists() else []
        # however late the kill comes, there is something left to do
        (tmp_path / "limit").write_text(str(len(begun_before) + 12))
        begun = kill_at_random(start_toy(tmp_path, 40, n_jobs), tmp_path, chance)
        assert not finished & begun, "a finished case ran again"
        with open_toy(tmp_path) as file:
            assert finished <= set(file.rows), "a row was lost"
            finished = set(file.rows)
    assert 0 < len(finished) < 80, "the kills came too early or too late to tell anything"
    (tmp_path / "limit").unlink()
    assert start_toy(tmp_path, 40, n_jobs=1).wait(600) == 0
    assert read_rows(tmp_path) == undisturbed


def start_dask(arguments, folder):
    command = [sys.executable, "-m", "dask", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.fixture
def dask_cluster(tmp_path):
    """A scheduler and two workers, processes of their own: its address and the workers."""
    known = tmp_path / "scheduler.json"
    place = ["--scheduler-file", str(known), "--no-dashboard"]
    processes = [start_dask(["scheduler", *place, "--host", "127.0.0.1", "--port", "0"], tmp_path)]
    try:
        for name in ("one", "two"):
            processes.append(
                start_dask(["worker", *place, "--name", name, "--no-nanny", "--nthreads", "1"], tmp_path)
            )
        # the file is there before its content is
        while not (known.exists() and known.read_text().rstrip().endswith("}")):
            assert all(process.poll() is None for process in processes)
            time.sleep(0.05)
        yield json.loads(known.read_text())["address"], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("ignore")  # of Dask, about ports, closed connections and lost workers
def test_a_dask_cluster_that_loses_a_worker_ends_complete_and_equal(tmp_path, dask_cluster, undisturbed):
    from distributed import Client

    address, workers = dask_cluster
    with Client(address) as client:
        client.wait_for_workers(2, timeout=600)
    rows: list[dict] = []

    def kill_one_on_the_way(row):
        rows.append(row)
        killed = workers[0].poll() is not None
        if not killed and workers[0].pid in {row["process"] for row in rows} and len(rows) >= 10:
            workers[0].kill()
            workers[0].wait()

    with open_toy(tmp_path) as file:
        run_cases(Toy(), toy.grid(40), file, Workers(cluster=address), kill_one_on_the_way)
    assert workers[0].poll() is not None
    assert {row["process"] for row in rows} == {worker.pid for worker in workers}
    assert {row["threads"] for row in rows} == {1}
    assert read_rows(tmp_path) == undisturbed


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("seqspan.reproduction._batch.CONNECT_SECONDS", 0.5)
    with pytest.raises(OSError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        run_toy(tmp_path, toy.grid(1), cluster="tcp://127.0.0.1:9")


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    with open_toy(tmp_path) as file, monkeypatch.context() as patched:
        patched.setattr("seqspan.reproduction._rows.os.write", lambda descriptor, content: len(content) - 1)
        row = {"seed": 0, "method": "a", "value": 1.0, "threads": 1, "process": 1}
        with pytest.raises(OSError, match=r"toy\.csv: a row was written only in part; is the disk full\?"):
            file.append(row)
        assert not file.rows


def test_groups_that_overlap_in_one_process_compute_in_one_thread_each():
    """A Dask worker may have several threads: the group that ends first must not lift the other's limit."""
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(2) as threads:
        groups = [threads.submit(run_group, Toy(), toy.grid(seeds), None) for seeds in (2, 5)]
        rows = [row for group in groups for row in group.result()]
    assert len(rows) == 14
    assert {row["threads"] for row in rows} == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.parametrize("error", [FileNotFoundError("no folder tirlib in /data"), ImportError("needs h5py")])
def test_what_is_missing_is_said_without_the_case(monkeypatch, error):
    def fail(self, case, rng, data):
        raise error

    monkeypatch.setattr(Toy, "run", fail)
    with pytest.raises(type(error)) as raised:
        run_group(Toy(), toy.grid(1), None)
    assert raised.value is error


def test_a_cluster_without_dask_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ImportError, match=r"needs the package distributed, .*: pip install 'seqspan\[cluster\]'"
    ):
        run_toy(tmp_path, toy.grid(1), cluster="tcp://127.0.0.1:9")


def teardown_module():
    """End the workers that joblib keeps for the next run."""
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True, kill_workers=True)
