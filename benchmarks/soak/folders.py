"""Random histories of result folders: runs, edits, kills, concurrent runs, other options and inputs.

Nothing of the user's may change, and what result.json says must be what lies there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from benchmarks.soak.tiny_runs import (
    N_SAMPLES,
    Answer,
    find_tiny,
    killed_after,
    read_tiny,
    stubbed,
)
from seqspan._core.spans import Division
from seqspan.cli.export import EXPORTED, export_result
from seqspan.cli.inputs import make_jobs
from seqspan.cli.segment import run_job
from seqspan.cli.settings import Settings
from seqspan.exports.selection import SPLIT_FOLDER, Selection
from seqspan.results.documents import DOCUMENT, Earlier, is_sealed, read_document
from seqspan.results.folder import is_unchanged, load_result

EXPORT_FILES = {"elan": "spans.eaf", "audacity": "spans.labels.txt"}
INPUTS = ("walk.csv", "other/walk.csv")
#: Names at which a user may put files of their own: some that we use, too, and some that we do not.
NAMES = (
    "notes.txt", "segments.csv", "report.html", "spans.eaf", "split", "split/1_0.mp4", "segments-edited.csv",
)  # fmt: skip
STEPS = 20  # of a history, at most
MOST_OPERATIONS = 25  # on folders, in one run; a kill comes after any number of them

divisions = st.lists(st.integers(1, N_SAMPLES - 1), unique=True, max_size=4).map(
    lambda starts: Division(np.array(sorted(starts), dtype=np.intp), np.arange(len(starts) + 1) % 3)
)
names_of_exports = st.lists(st.sampled_from(sorted(EXPORT_FILES)), unique=True).map(tuple)
exports = st.builds(Selection, names_of_exports, st.booleans())
places = st.sampled_from(["walk.seqspan", "walk-2.seqspan", "."])


def folder_of(path: Path) -> Path:
    """The result folder in which a file lies."""
    return path.parent.parent if path.parent.name == SPLIT_FOLDER else path.parent


class Histories(RuleBasedStateMachine):
    """A user with two inputs of one name, and the folders of their results."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(mkdtemp(prefix="seqspan-histories-"))
        self.before = Path.cwd()
        os.chdir(self.home)
        self.mine: dict[Path, bytes] = {}  # files of the user, by the path at which they were written
        self.foreign: set[Path] = set()  # those of them that lie where no result had a file
        self.touched: set[Path] = set()  # files of ours that the user has edited or deleted
        self.disowned: set[Path] = set()  # folders whose result.json the user has edited or deleted
        self.orphans: set[Path] = set()  # files of a result whose result.json is gone: nobody knows them
        self.number = 0

    @initialize()
    def write_inputs(self) -> None:
        """Two recordings of the same name."""
        Path("other").mkdir()
        for name in INPUTS:
            self._write(Path(name))

    def teardown(self) -> None:
        """Remove everything."""
        os.chdir(self.before)
        shutil.rmtree(self.home, ignore_errors=True)

    # What the user does.

    def _write(self, path: Path) -> None:
        """Write something that has never been written before."""
        self._let_go(path)
        self.number += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{self.number}. file of the user")
        self._own(path)

    def _let_go(self, path: Path) -> None:
        """What lies here is about to go because the user wants it, under whatever name it came here."""
        here = path.read_bytes() if path.exists() else None
        self.mine = {other: text for other, text in self.mine.items() if text != here}
        self.foreign &= set(self.mine)
        self.orphans.discard(path)

    def _own(self, path: Path) -> None:
        """From now on this file is the user's."""
        self.mine[path] = path.read_bytes()
        self.touched.add(path)
        if path.name == DOCUMENT:
            self.disowned.add(path.parent)
        elif not self._is_listed(path):
            self.foreign.add(path)

    def _is_listed(self, path: Path) -> bool:
        """Whether a result has a file at this path."""
        folder = folder_of(path)
        return path.relative_to(folder).as_posix() in Earlier.read(folder).digests

    def _visible(self, folder: str) -> list[Path]:
        """Files of a folder that a user sees."""
        found = [path for path in Path(folder).glob("**/*") if path.is_file()]
        inside = [path for path in found if folder != "." or "seqspan" not in path.parts[0]]
        return sorted(path for path in inside if not any(part.startswith(".") for part in path.parts))

    @rule(folder=places, place=st.integers(0, 30))
    def edit_a_file(self, folder: str, place: int) -> None:
        """Change any file that is there."""
        files = self._visible(folder)
        if files:
            self._write(files[place % len(files)])

    @rule(folder=places)
    def add_a_remark_to_the_result(self, folder: str) -> None:
        """Change result.json so that it still is one."""
        path = Path(folder) / DOCUMENT
        document = read_document(path)
        if document is not None:
            self._let_go(path)
            self.number += 1
            path.write_text(json.dumps(document | {"remark": self.number}))
            self.mine[path] = path.read_bytes()

    @rule(folder=places, name=st.sampled_from(NAMES))
    def add_a_file(self, folder: str, name: str) -> None:
        """Put a file where none is."""
        path = Path(folder) / name
        if not path.exists() and (path.parent.is_dir() or not path.parent.exists()):
            self._write(path)

    @rule(folder=places, place=st.integers(0, 30))
    def delete_a_file(self, folder: str, place: int) -> None:
        """Delete a file that is there; inputs stay."""
        files = [path for path in self._visible(folder) if path.as_posix() not in INPUTS]
        if files:
            path = files[place % len(files)]
            self._let_go(path)
            path.unlink()
            self.touched.add(path)
            if path.name == DOCUMENT:
                self.disowned.add(path.parent)

    @rule(name=st.sampled_from(INPUTS))
    def change_an_input(self, name: str) -> None:
        """Record anew."""
        self._write(Path(name))

    # What the program does.

    def _attempt(self, folder: Path, work: Callable[[], Any]) -> Any:
        """Do something that succeeds, or is refused for a reason and changes nothing."""
        before, refusal = self._snapshot(), ""
        try:
            return work()
        except (FileExistsError, FileNotFoundError, ValueError) as error:
            refusal = str(error)
        assert self._snapshot() == before, f"changed, but refused: {refusal}"
        name, way, _ = refusal.partition(": ")[2].partition(" is in the way")
        if way and folder not in self.disowned:
            theirs = folder / name in self.foreign | self.orphans or (folder / name).is_dir()
            assert theirs, f"refused for a file of ours: {refusal}"
        return None

    def _snapshot(self) -> dict[str, bytes]:
        """All visible files."""
        paths = [path for path in Path().rglob("*") if path.is_file()]
        shown = [path for path in paths if not any(part.startswith(".seqspan") for part in path.parts)]
        return {str(path): path.read_bytes() for path in shown}

    def _job(self, source: str, folder: str | None, asked: Selection) -> Any:
        given = Settings(out=folder, export=",".join(asked.names) or None, split=asked.split)
        return make_jobs([Path(source)], given, None, 0)[0]

    def _there(self, folder: Path) -> Selection:
        """Exports that result.json lists and that are still there."""
        document = read_document(folder / DOCUMENT) or {"files": {}}
        return Selection.from_files(name for name in document["files"] if os.path.lexists(folder / name))

    @rule(
        source=st.sampled_from(INPUTS), folder=st.one_of(st.none(), places), division=divisions, asked=exports
    )
    def run(self, source: str, folder: str | None, division: Division, asked: Selection) -> None:
        """Segment an input."""
        job = self._job(source, folder, asked)
        earlier, document = self._there(job.folder), read_document(job.folder / DOCUMENT)
        with stubbed(Answer(division)):
            outcome = self._attempt(job.folder, lambda: run_job(job))
        if outcome is not None:
            assert document is None or document["input"]["path"] == source, "a result of another input"
            self._check_written(job.folder, asked | earlier, outcome.status == "unchanged")

    @rule(folder=places, division=divisions, asked=exports, place=st.integers(0, 30))
    def run_while_the_user_and_others_are_at_work(
        self, folder: str, division: Division, asked: Selection, place: int
    ) -> None:
        """Segment an input, while a file is edited and a second run wants the same folder."""
        job = self._job(INPUTS[0], folder, asked)
        tried: list[str] = []

        def meanwhile() -> None:
            if tried:
                return  # this is the report of the second run, which should not get this far
            tried.append("asked")
            self.edit_a_file(folder, place)
            before = self._snapshot()
            try:
                run_job(self._job(INPUTS[0], folder, asked), fresh=True)
            except BlockingIOError:
                tried.append("refused")
            assert self._snapshot() == before, "the second run has changed something"

        changes: dict[str, Any] = {}
        with stubbed(Answer(division, meanwhile)):
            try:
                changes = dict(run_job(job, fresh=True).document)
            except (FileExistsError, FileNotFoundError, ValueError):
                return
        assert tried == ["asked", "refused"], "two runs into one folder at once"
        assert changes["files"] == read_document(job.folder / DOCUMENT)["files"]  # type: ignore[index]
        self._settle(job.folder)

    @rule(
        source=st.sampled_from(INPUTS),
        folder=st.one_of(st.none(), places),
        division=divisions,
        asked=exports,
        moment=st.integers(0, MOST_OPERATIONS),
        exporting=st.booleans(),
    )
    def kill_a_run(
        self,
        source: str,
        folder: str | None,
        division: Division,
        asked: Selection,
        moment: int,
        exporting: bool,
    ) -> None:
        """Segment an input or export its result, and be killed at some moment."""
        job = self._job(source, folder, asked)
        with stubbed(Answer(division)), killed_after(moment):
            try:
                if exporting:
                    export_result(job.folder, asked)
                else:
                    run_job(job, fresh=True)
            except (OSError, ValueError):
                pass
        document = read_document(job.folder / DOCUMENT)
        if document is not None and is_sealed(document):
            whole = [name for name in document["files"] if is_unchanged(job.folder, document, name)]
            self.touched -= {job.folder / name for name in whole}

    @rule(folder=places, asked=exports, division=st.one_of(st.none(), divisions))
    def export(self, folder: str, asked: Selection, division: Division | None) -> None:
        """Export a result, as it is or as somebody has corrected it."""
        table = None
        if division is not None:
            table = Path("corrected.csv")
            self._let_go(table)
            edges = [0, *division.boundaries.tolist(), N_SAMPLES]
            rows = zip(edges[:-1], edges[1:], division.labels, strict=True)
            table.write_text("start,end,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
            self._own(table)
        earlier = self._there(Path(folder))
        with stubbed(Answer(Division(np.array([], dtype=np.intp), np.array([0])))):
            done = self._attempt(Path(folder), lambda: export_result(Path(folder), asked, table))
        if done is not None:
            wanted = asked | earlier
            self._check_exports(Path(folder), wanted, done.n_spans)
            written = {Path(folder) / name for name in done.files}
            self.touched -= written
            self._adopt(Path(folder))

    @rule(source=st.sampled_from(INPUTS), folder=places, division=divisions)
    def save_from_python(self, source: str, folder: str, division: Division) -> None:
        """Save a segmentation without the command line."""
        earlier = self._there(Path(folder))
        found = find_tiny(read_tiny(Path(source)), division)

        def save() -> bool:
            found.save(folder)
            return True

        with stubbed(Answer(division)):
            if self._attempt(Path(folder), save):
                self._check_exports(Path(folder), earlier, len(found.spans))
                self._settle(Path(folder))

    @precondition(lambda self: self.mine)
    @rule(folder=st.sampled_from(["walk.seqspan", "walk-2.seqspan"]))
    def delete_a_folder(self, folder: str) -> None:
        """Throw a result away."""
        shutil.rmtree(folder, ignore_errors=True)
        self.mine = {path: text for path, text in self.mine.items() if path.parts[0] != folder}
        self.foreign = {path for path in self.foreign if path.parts[0] != folder}
        self.touched = {path for path in self.touched if path.parts[0] != folder}
        self.orphans = {path for path in self.orphans if path.parts[0] != folder}
        self.disowned.discard(Path(folder))

    # What must be true.

    def _adopt(self, folder: Path) -> None:
        """The folder has a result again; what lay there before and is no part of it stays unknown."""
        if folder in self.disowned:
            there = [path for path in self._visible(str(folder)) if path.name != DOCUMENT]
            self.orphans |= {
                path for path in there if folder_of(path) == folder and not self._is_listed(path)
            }
        self.disowned.discard(folder)

    def _settle(self, folder: Path) -> None:
        """After a whole run nothing in the folder differs from what result.json says."""
        assert load_result(folder) is not None, "the result is not whole"
        self.touched = {path for path in self.touched if folder_of(path) != folder}
        self._adopt(folder)

    def _check_written(self, folder: Path, wanted: Selection, unchanged: bool) -> None:
        """The tables, the report and all exports are there, and say the same."""
        document = load_result(folder)
        assert document is not None, "the result is not whole"
        rows = (folder / "segments.csv").read_text().splitlines()[1:]
        assert len(rows) == document["n_spans"], "segments.csv is of another run"
        report = (folder / "report.html").read_text()
        starts = [int(row.partition(",")[0]) for row in rows]
        assert [f"Span(start={start}," in report for start in starts] == [True] * len(rows), "stale report"
        if not unchanged or EXPORTED not in document:
            self._check_exports(folder, wanted, document["n_spans"])
        self._settle(folder)

    def _check_exports(self, folder: Path, wanted: Selection, n_spans: int) -> None:
        """Every export is there, and none is of other spans."""
        files = (read_document(folder / DOCUMENT) or {})["files"]
        there = Selection.from_files(files)
        assert there | wanted == there, "an export is missing"
        if "audacity" in wanted.names:
            lines = (folder / EXPORT_FILES["audacity"]).read_text().splitlines()
            assert len(lines) == n_spans, "a stale export"
        if wanted.split:
            pieces = [name for name in files if name.startswith(f"{SPLIT_FOLDER}/")]
            assert len(pieces) == n_spans, "a stale film, or one is missing"

    @invariant()
    def nothing_of_the_user_is_lost(self) -> None:
        """Every file of the user is where it was, or in the same folder under a name that says so."""
        for path, text in self.mine.items():
            if path.is_file() and path.read_bytes() == text:
                continue
            stem, dot, ending = path.name.partition(".")
            others = path.parent.glob(f"{stem}-edited*{dot}{ending}")
            assert any(other.read_bytes() == text for other in others if other.is_file()), f"{path} is lost"
            assert path not in self.foreign, f"{path} was never ours, but was moved"

    @invariant()
    def result_json_says_what_lies_there(self) -> None:
        """Every file that result.json lists is as it says, unless the user has changed it since."""
        for path in [Path(DOCUMENT), *Path().glob(f"[!.]*/{DOCUMENT}")]:
            document = read_document(path)
            if document is None or not is_sealed(document):
                continue
            for name in document["files"]:
                known = is_unchanged(path.parent, document, name) or path.parent / name in self.touched
                assert known, f"{path} lists {name}, which is missing or different"


def soak_folders(histories: int, *, shorten: bool = True) -> None:
    """Try random histories; the first that goes wrong is raised, made as short as possible if wanted."""
    tried = settings(
        max_examples=histories,
        stateful_step_count=STEPS,
        phases=[Phase.generate, Phase.shrink] if shorten else [Phase.generate],
        report_multiple_bugs=False,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Histories, settings=tried)
