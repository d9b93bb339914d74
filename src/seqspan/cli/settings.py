"""The options of ``seqspan segment``: one table for the command, the configuration file and the checks."""

from __future__ import annotations

import inspect
import json
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from seqspan._core.backend import DEVICES
from seqspan._core.checks import check_choice, check_weight
from seqspan._core.text import printable
from seqspan.cli.values import parse_length, parse_list, parse_names, parse_numbers, read_names, write_names
from seqspan.cuts import CUTS, ESTIMATORS
from seqspan.cuts.ordered.n_spans import GRAINS
from seqspan.exports import EXPORTS
from seqspan.methods._base import Parameters
from seqspan.methods._coupled import COUPLED_SOLVERS
from seqspan.methods._defaults import METHODS, make_parameters, table_of_defaults
from seqspan.preprocess import make_chain
from seqspan.readers import readers
from seqspan.readers._limits import is_utf8
from seqspan.recording.several import FIRST
from seqspan.solvers.fast.landmarks import DICTIONARIES


def option(flags: str, metavar: str, text: str, default: Any = None, *, expert: bool = False) -> Any:
    """One field of `Settings`, with its help text for the command line; --help-all shows those of experts."""
    shown = f"{text} ({default})" if default not in (None, False, ()) else text
    metadata = {"flags": flags.split(), "metavar": metavar, "help": shown, "hidden": expert}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults; None means the library's default."""

    subspaces: str = option("--subspaces -k", "N|auto", "number of distinct labels", "auto")
    spans: str = option("--spans", "N|auto", "number of spans", "auto")
    grain: str = option("--grain", "NAME", "how fine spans are: coarse, default, fine", "default")
    min_length: str | None = option("--min-length", "N|TIME", "shortest span: samples, or a time such as 2s")
    method: str = option("--method", "NAME", f"{', '.join(METHODS)}", "osc")
    cut: str = option("--cut", "NAME", f"{', '.join(CUTS)}", "ordered")
    lambda1: str | None = option("--lambda1", "WEIGHT", "weight of sparsity, or auto", expert=True)
    lambda2: str | None = option("--lambda2", "WEIGHT", "weight of change over time, or auto", expert=True)
    solver: str | None = option("--solver", "NAME", f"{', '.join(COUPLED_SOLVERS)}", expert=True)
    dictionary: str | None = option("--dictionary", "NAME", f"{', '.join(DICTIONARIES)}", expert=True)
    device: str | None = option("--device", "NAME", f"{', '.join(DEVICES)}", expert=True)
    tol: float | None = option("--tol", "SHARE", "stop this close to the optimum (0.01 is 1 %)", expert=True)
    max_iter: int | None = option("--max-iter", "N", "largest number of iterations", expert=True)
    preprocess: str = option("--preprocess", "STEPS", "auto, none, or steps such as centre,pca:0.95", "auto")
    format: str | None = option("--format", "NAME", "input format, if it cannot be detected")
    missing: str | None = option("--missing", "HOW", "missing values: error, interpolate or drop")
    missing_values: str | None = option("--missing-values", "LIST", "numbers that mean missing: -9999,-200")
    columns: str | None = option("--columns", "LIST", "table: features, by name or number (1 is the first)")
    exclude: str | None = option("--exclude", "LIST", "table: columns that are not features")
    time_column: str | None = option("--time-column", "NAME", "table: times or depths, by name or number")
    variable: str | None = option("--variable", "NAME", "array of the samples, in a .mat or .npz file")
    stride: int | None = option("--stride", "N", "film: read every N-th frame")
    read: tuple[str, ...] = option("--read", "NAME=VALUE", "any reader option; repeatable", ())
    together: bool = option("--together", "", "all inputs share their labels; one result folder", False)
    gap: float | None = option("--gap", "SECONDS", "a longer gap in time begins another recording")
    resample: str | None = option(
        "--resample", "RATE|first", "samples per second of all inputs, or as the first", expert=True
    )
    seed: int = option("--seed", "N", "seed of the cut's random numbers", 0, expert=True)
    truth: str | None = option("--truth", "FILE", "true labels or boundaries, to score the result")
    names: str | None = option("--names", "LIST|FILE", "names of labels: A=walk,B=run, or CSV label,name")
    segments: str | None = option("--segments", "FILE", "corrected segments.csv, to show instead of a cut")
    export: str | None = option("--export", "LIST", ",".join(EXPORTS))
    split: bool = option("--split", "", "video: one file per span", False)
    no_report: bool = option("--no-report", "", "leave out report.html", False)
    out: str | None = option("--out -o", "DIR", "result folder; INPUT.seqspan by default")
    jobs: int = option("--jobs -j", "N", "inputs to work on at the same time", 1)

    def to_toml(self) -> str:
        """Write the settings as TOML, without those that are None."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in given.items():
            if isinstance(value, str) and not is_utf8(Path(value)):
                raise ValueError(f"--{name} cannot be saved: TOML has only UTF-8; got {printable(value)}.")
        # strings, numbers and lists look the same in JSON and TOML
        lines = [f"{name} = {json.dumps(value)}" for name, value in given.items() if value is not None]
        return "\n".join(lines) + "\n"

    def to_command(self, *sources: str) -> str:
        """Write the command that repeats the run."""
        named = [f"./{each}" if each.startswith("-") and each != "-" else each for each in sources]
        parts = ["seqspan", "segment", *named]  # a file called -film.mp4 is no option
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "jobs" or value == f.default:
                continue
            flag = f.metadata["flags"][0]
            if isinstance(value, bool):
                parts.append(flag)
            else:
                for part in value if isinstance(value, tuple) else [value]:
                    parts += [flag, str(part)]
        return shlex.join(parts)


@dataclass(frozen=True)
class Control:
    """Options that affect the run but not its result, so they are not part of a configuration."""

    config: str | None = option("--config", "FILE", "TOML with any of the options above")
    save_config: str | None = option(
        "--save-config", "FILE", "write the options of this run to FILE", expert=True
    )
    fresh: bool = option("--fresh", "", "solve again, even if nothing changed", False)
    json: bool = option("--json", "", "one line of JSON per input", False)
    quiet: bool = option("--quiet -q", "", "print nothing but errors", False)
    verbose: bool = option("--verbose -v", "", "print how long each stage takes", False)


def read_config(path: Path) -> dict[str, Any]:
    """Read settings from a TOML file; an unknown name is an error that lists the known ones."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from error
    given = {name.replace("-", "_"): value for name, value in given.items()}
    known = {f.name: f for f in fields(Settings)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"{path}: unknown settings {', '.join(unknown)}; known are {', '.join(known)}.")
    return {name: _typed(path, name, value) for name, value in given.items()}


def save_config(settings: Settings, path: Path) -> None:
    """Write settings to a TOML file; a file that is no configuration is never replaced."""
    text = settings.to_toml()
    if path.exists():
        try:
            read_config(path)
        except ValueError as error:
            raise ValueError(f"--save-config would replace a file of another kind: {error}") from error
    path.write_text(text, encoding="utf-8")


def _typed(path: Path, name: str, value: Any) -> Any:
    """Check the type of a value; a number is accepted where text is expected."""
    wanted = get_type_hints(Settings)[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if wanted == tuple[str, ...] and isinstance(value, list):
        return tuple(map(str, value))
    if wanted in (str, str | None) and (is_number or isinstance(value, list)):
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)
    if wanted == (float | None) and is_number:
        return float(value)
    if (
        wanted == tuple[str, ...]
        or not isinstance(value, wanted)
        or isinstance(value, bool) != (wanted is bool)
    ):
        kind = str(getattr(wanted, "__name__", wanted)).replace(" | None", "")
        raise ValueError(f"{path}: {name} must be of type {kind}; got {value!r}.")
    return value


def make_settings(given: Mapping[str, Any], config: Path | None) -> Settings:
    """Combine the command line with a configuration file; command-line options take precedence."""
    stored = read_config(config) if config is not None else {}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    # compared by identity, because 0 equals False but counts as given
    stated = {name: value for name, value in given.items() if value is not None and value is not False}
    stated = {name: value for name, value in stated.items() if value != ()}
    return check_settings(_with_names(Settings(**{**stored, **stated})))


def _with_names(settings: Settings) -> Settings:
    """Replace a file of names by the names in it, because these decide the result."""
    given = settings.names
    if given is None:
        return settings
    if "=" not in given and not Path(given).is_file():
        raise ValueError(f"--names must be a list such as A=walk,B=run, or a CSV file; got {given!r}.")
    names = parse_names(given) if "=" in given and not Path(given).is_file() else read_names(Path(given))
    return replace(settings, names=write_names(names))


def check_settings(settings: Settings) -> Settings:
    """Refuse settings that would be wrong for any input."""
    check_choice("--method", settings.method, METHODS)
    check_choice("--cut", settings.cut, CUTS)
    check_choice("--grain", settings.grain, GRAINS)
    parse_count("--subspaces", settings.subspaces, tuple(ESTIMATORS))
    parse_count("--spans", settings.spans, ("auto",))
    if settings.solver is not None:
        check_choice("--solver", settings.solver, COUPLED_SOLVERS)
    if settings.dictionary is not None:
        check_choice("--dictionary", settings.dictionary, DICTIONARIES)
    if settings.device is not None:
        check_choice("--device", settings.device, DEVICES)
    for name in parse_exports(settings.export):
        check_choice("--export", name, EXPORTS)
    if settings.jobs < 1:
        raise ValueError(f"--jobs must be at least 1; got {settings.jobs}.")
    if settings.seed < 0:
        raise ValueError(f"--seed must be 0 or more; got {settings.seed}.")
    check_out(settings.out)
    if settings.gap is not None:
        check_weight("--gap", settings.gap)
    _check_resample(settings)
    if settings.preprocess not in ("auto", "none"):
        make_chain(settings.preprocess)
    if settings.format is not None:
        check_choice("--format", settings.format, sorted(reader.name for reader in readers()))
    read_options(settings)
    _check_spans(settings)
    _check_min_length(settings)
    _check_corrections(settings)
    _check_weights(settings)
    parameters_of(replace(settings, device=None)).stages()  # the GPU is checked later
    return settings


def check_out(out: str | None) -> None:
    """Refuse an empty name, which would be the current folder."""
    if out == "":
        raise ValueError("--out must name a folder; for the current one, give '.'.")


def _check_spans(settings: Settings) -> None:
    """Refuse a number of spans that the cut would ignore."""
    if settings.spans == "auto":
        return
    if settings.cut == "ncut":
        raise ValueError(
            f"--spans is for --cut ordered and --cut peaks; got --spans {settings.spans} with --cut ncut."
        )
    if not settings.subspaces.isdecimal():
        return
    if settings.cut == "peaks" and settings.subspaces != settings.spans:
        raise ValueError("--cut peaks gives every span its own label: give only --spans.")
    if int(settings.subspaces) > int(settings.spans):
        raise ValueError(
            f"--subspaces must be at most --spans, the labels being those of spans; got "
            f"--subspaces {settings.subspaces} with --spans {settings.spans}."
        )


def parse_rate(settings: Settings) -> float | str | None:
    """The sampling rate that is wanted, in samples per second, or "first"."""
    given = settings.resample
    return given if given in (None, FIRST) else check_weight("--resample", _number_or_word(given))


def _check_resample(settings: Settings) -> None:
    """Refuse what is no rate, and that of the first input if it is the only one of its result."""
    parse_rate(settings)
    if settings.resample == FIRST and not settings.together:
        raise ValueError(
            "--resample first is for --together; without it, give a number of samples per second."
        )


def _check_min_length(settings: Settings) -> None:
    """Refuse a shortest span that is no length, or that the cut would ignore."""
    if settings.min_length is None:
        return
    number, _ = parse_length(settings.min_length)
    if settings.cut != "ordered" or not number:
        raise ValueError(
            f"--min-length must be positive and is for --cut ordered; got {settings.min_length} with "
            f"--cut {settings.cut}."
        )


def _check_corrections(settings: Settings) -> None:
    """Refuse numbers of spans or labels beside a table that has both."""
    chosen = {"--spans": settings.spans, "--subspaces": settings.subspaces}
    for flag, value in chosen.items():
        if settings.segments is not None and value != "auto":
            raise ValueError(f"--segments says what the spans are; got {flag} {value}, too.")


def _check_weights(settings: Settings) -> None:
    """Refuse weights that are not numbers, and "auto" for a method that cannot choose them."""
    for flag, given in (("--lambda1", settings.lambda1), ("--lambda2", settings.lambda2)):
        if given == "auto" and "lambda_1" not in table_of_defaults(settings.method):
            raise ValueError(f"{flag} auto is for the methods osc and spatsc; got {settings.method}.")
        if given not in (None, "auto"):
            check_weight(flag, _number_or_word(given))


def read_options(settings: Settings) -> dict[str, Any]:
    """Keywords for :func:`seqspan.read`."""
    options = parse_read_options(settings.read)
    for name, flag in (("columns", "--columns"), ("exclude", "--exclude")):
        if (given := getattr(settings, name)) is not None:
            options[name] = parse_list(flag, given)
    if settings.missing_values is not None:
        options["missing_values"] = parse_numbers("--missing-values", settings.missing_values)
    given_as = {"time": settings.time_column, "variable": settings.variable, "stride": settings.stride}
    options |= {name: value for name, value in given_as.items() if value is not None}
    if settings.missing is not None:
        options["missing"] = check_choice("--missing", settings.missing, ("error", "interpolate", "drop"))
    return options


def parse_count(name: str, given: str, words: tuple[str, ...]) -> int | str:
    """Return a count, or one of the words that request an estimate."""
    if given in words:
        return given
    if not given.isdecimal() or int(given) < 1:
        raise ValueError(
            f"{name} must be a whole number from 1 on, or one of {', '.join(words)}; got {given!r}."
        )
    return int(given)


def parse_exports(given: str | None) -> list[str]:
    """Split a list of names at its commas."""
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def parse_read_options(given: Iterable[str]) -> dict[str, Any]:
    """Turn NAME=VALUE into keyword arguments; values are parsed as JSON if possible, otherwise kept as text.

    Examples
    --------
    >>> parse_read_options(["stride=5", "colour=true", "missing=drop", "size=[64, 48]"])
    {'stride': 5, 'colour': True, 'missing': 'drop', 'size': (64, 48)}
    """
    options = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"--read must be NAME=VALUE, such as stride=5; got {item!r}.")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        options[name] = tuple(value) if isinstance(value, list) else value
    return options


def parameters_of(settings: Settings, **more: Any) -> Parameters:
    """The parameters of the method for these settings; the table of defaults fills in the rest."""
    given = {
        "n_subspaces": parse_count("--subspaces", settings.subspaces, tuple(ESTIMATORS)),
        "n_spans": parse_count("--spans", settings.spans, ("auto",)),
        "grain": settings.grain,
        "cut": settings.cut,
        "preprocess": None if settings.preprocess == "none" else settings.preprocess,
        "random_state": settings.seed,
    }
    return make_parameters(settings.method, **given, **_model_parameters(settings), **more)


def _model_parameters(settings: Settings) -> dict[str, Any]:
    """Parameters of the model and its solver that were given; those of another method are refused."""
    offered: dict[str, Any] = {
        "lambda_1": None if settings.lambda1 is None else _number_or_word(settings.lambda1),
        "lambda_2": None if settings.lambda2 is None else _number_or_word(settings.lambda2),
        "solver": settings.solver,
        "dictionary": settings.dictionary,
        "device": settings.device,
        "tol": settings.tol,
        "max_iter": settings.max_iter,
    }
    known = inspect.signature(METHODS[settings.method]).parameters
    given = {name: value for name, value in offered.items() if value is not None}
    foreign = ", ".join(name for name in given if name not in known)
    if foreign:
        taken = ", ".join(name for name in offered if name in known)
        raise ValueError(f"the method {settings.method} takes {taken}; got {foreign}.")
    return given


def _number_or_word(given: str) -> float | str:
    """A weight as a number; words are passed on for the library to check."""
    try:
        return float(given)
    except ValueError:
        return given


def with_options(*tables: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Offer the fields of dataclasses as options of a command, which receives them as ``**given``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(command, eval_str=True).parameters.values()
        own = [parameter for parameter in parameters if parameter.kind != parameter.VAR_KEYWORD]
        added = [_parameter(f, get_type_hints(table)[f.name]) for table in tables for f in fields(table)]
        signature = inspect.Signature([*own, *added])
        command.__signature__ = signature  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
        return command

    return decorate


def _parameter(setting: Field[Any], kind: Any) -> inspect.Parameter:
    """A parameter of the command that is None, False or empty if it is not given."""
    several = kind == tuple[str, ...]
    shown = list[str] if several else kind if kind is bool else kind | None
    about = typer.Option(
        *setting.metadata["flags"],
        metavar=setting.metadata["metavar"] or None,
        help=setting.metadata["help"],
        show_default=False,
        hidden=setting.metadata["hidden"],
    )
    default: Any = [] if several else False if kind is bool else None
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(setting.name, keyword, default=default, annotation=Annotated[shown, about])
