"""Renders a short clip from photographs, with known true labels, segments it and corrects a boundary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from seqspan._core.extras import import_optional
from seqspan._core.spans import boundaries_from_labels
from seqspan._core.types import IntArray
from seqspan.exports.selection import Selection
from seqspan.results.folder import SEGMENTS, STAGING

if TYPE_CHECKING:
    from av.video.stream import VideoStream
    from PIL.Image import Image

SIZE = (320, 240)  # pixels; width and height
FRAME_RATE = 24  # frames per second
NOISE = 4.0  # standard deviation of the camera noise, in grey levels
CLIP, TRUTH, CORRECTED = "demo.mp4", "demo_truth.csv", "demo_corrected.csv"
TITLE = "seqspan demo"  # of the clip, by which it is known again
NOT_OURS = "{}: not the demo's file; choose another folder, or move it."
EXPORTS = ("edl", "chapters")
MOVED = 6  # frames by which the demo moves the first boundary, as a user might
Frame = npt.NDArray[np.uint8]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Scene:
    """A camera move across a photograph.

    Parameters
    ----------
    label : int
        Scenes that recur share a label.
    photograph : int
        Index of a photograph that comes with scikit-learn.
    first, last : (left, top, right, bottom)
        What the camera sees at the start and at the end, in pixels of the photograph.
    n_frames : int
    colour : str
        Colour of the disc that moves across the picture.
    """

    label: int
    photograph: int
    first: Box
    last: Box
    n_frames: int
    colour: str


SCENES = (
    Scene(0, 0, (60.0, 40.0, 380.0, 280.0), (110.0, 50.0, 430.0, 290.0), 60, "#e69f00"),
    Scene(1, 1, (120.0, 40.0, 520.0, 340.0), (160.0, 70.0, 480.0, 310.0), 50, "#56b4e9"),
    Scene(2, 0, (300.0, 250.0, 536.0, 427.0), (380.0, 250.0, 616.0, 427.0), 55, "#cc79a7"),
    Scene(0, 0, (110.0, 50.0, 430.0, 290.0), (60.0, 40.0, 380.0, 280.0), 45, "#e69f00"),
)


@dataclass(frozen=True)
class DemoResult:
    """What was found and corrected, in words, and whether it matches the rendered clip."""

    what: str
    right: bool
    wrong: str = ""
    corrected: str = ""


def true_labels() -> IntArray:
    """Label of every frame of the clip.

    Examples
    --------
    >>> boundaries_from_labels(true_labels())
    array([ 60, 110, 165])
    """
    return np.repeat([scene.label for scene in SCENES], [scene.n_frames for scene in SCENES])


def render(rng: np.random.Generator) -> Iterator[Frame]:
    """Yield the frames of the clip, of shape (240, 320, 3).

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the camera noise.
    """
    from PIL import Image
    from sklearn.datasets import load_sample_images

    photographs = [Image.fromarray(photograph) for photograph in load_sample_images().images]
    for scene in SCENES:
        for part in np.linspace(0, 1, scene.n_frames):
            picture = _look(photographs[scene.photograph], scene, float(part))
            noisy = np.asarray(picture, dtype=float) + NOISE * rng.standard_normal((SIZE[1], SIZE[0], 3))
            yield np.clip(noisy, 0, 255).round().astype(np.uint8)


def _look(photograph: Image, scene: Scene, part: float) -> Image:
    """What the camera sees after part of the move, with a disc that crosses the picture."""
    from PIL import ImageDraw
    from PIL.Image import Resampling

    ease = part * part * (3 - 2 * part)
    box = tuple((1 - ease) * a + ease * b for a, b in zip(scene.first, scene.last, strict=True))
    picture = photograph.resize(SIZE, Resampling.BILINEAR, box=cast("Box", box))
    x, y = 30 + part * (SIZE[0] - 60), SIZE[1] * (0.75 - 0.15 * np.sin(2 * np.pi * part))
    ImageDraw.Draw(picture).ellipse((x - 14, y - 14, x + 14, y + 14), fill=scene.colour)
    return picture


def write_clip(path: Path, frames: Iterator[Frame]) -> None:
    """Encode frames as a video."""
    av = import_optional("av", "the demo")
    with av.open(str(path), "w") as film:
        film.metadata["title"] = TITLE
        name = "libx264" if "libx264" in av.codecs_available else "mpeg4"
        options: dict[str, Any] = {"crf": "18"} if name == "libx264" else {"qscale": "3"}
        stream = cast("VideoStream", film.add_stream(name, rate=Fraction(FRAME_RATE), options=options))
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for frame in frames:
            film.mux(stream.encode(av.VideoFrame.from_ndarray(frame, "rgb24")))
        film.mux(stream.encode(None))


def provide_clip(path: Path) -> None:
    """Render the clip, unless it is there already; any other file of its name is left alone."""
    if not path.exists():
        with TemporaryDirectory(prefix=STAGING, dir=path.parent) as staging:
            write_clip(Path(staging) / CLIP, render(np.random.default_rng(0)))
            (Path(staging) / CLIP).replace(path)
    elif read_title(path) != TITLE:
        raise FileExistsError(NOT_OURS.format(path))


def read_title(path: Path) -> str:
    """Title of a film; empty if it has none, or if it is no film."""
    av = import_optional("av", "the demo")
    try:
        with av.open(str(path)) as film:
            return str(film.metadata.get("title", ""))
    except av.error.FFmpegError:
        return ""


def provide_text(path: Path, text: str) -> Path:
    """Write a file, unless it is there already; one of the same name with other text is left alone."""
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    elif path.read_bytes() != text.encode():
        raise FileExistsError(NOT_OURS.format(path))
    return path


def run_demo(folder: Path, *, level: int = 1) -> DemoResult:
    """Render the clip, segment it without giving the number of scenes, compare it with the truth, correct it.

    Parameters
    ----------
    folder : path
        Where the clip, the truth and the result are written.
    level : int
        0 shows no progress.

    Returns
    -------
    DemoResult
    """
    from seqspan.cli.inputs import Job
    from seqspan.cli.segment import run_job
    from seqspan.cli.settings import Settings

    folder.mkdir(parents=True, exist_ok=True)
    labels = true_labels()
    provide_clip(folder / CLIP)
    rows = "".join(f"{index},{'ABC'[label]}\n" for index, label in enumerate(labels))
    provide_text(folder / TRUTH, "index,label\n" + rows)
    settings = Settings(truth=str(folder / TRUTH), out=str(folder))
    document = run_job(Job(folder / CLIP, folder, settings, level=level)).document
    scores = document["scores"]
    what = (
        f"{document['n_spans']} spans of {document['n_subspaces']} scenes in {len(labels)} frames "
        f"({100 * scores['clustering_error']:.1f} % of the frames mislabelled)"
    )
    right = scores["clustering_error"] == 0
    wanted = f"{len(boundaries_from_labels(labels)) + 1} spans of {len(set(labels.tolist()))} scenes"
    return DemoResult(what, right, "" if right else f"which has {wanted}", correct_boundary(folder))


def correct_boundary(folder: Path) -> str:
    """Move the first boundary as a user might, export what comes out, and say so.

    Parameters
    ----------
    folder : path
        With the result of the demo.

    Returns
    -------
    str
    """
    from seqspan.cli.export import export_result

    header, first, second, *others = (folder / SEGMENTS).read_text(encoding="utf-8").splitlines()
    boundary = second.partition(",")[0]
    moved = str(int(boundary) + MOVED)
    first = first.replace(f",{boundary},", f",{moved},", 1)
    lines = [header, first, f"{moved},{second.partition(',')[2]}", *others]
    table = provide_text(folder / CORRECTED, "\n".join(lines) + "\n")
    done = export_result(folder, Selection(EXPORTS), table)
    return f"frame {boundary} to frame {moved}, written to {' and '.join(done.files)}"
