"""Numbers as people write them: understood, or refused, but never read as something else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqspan.readers import read


def read_text(folder, text, **options):
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return read(path, **options)


@pytest.mark.parametrize(
    ("text", "values", "note"),
    [
        ('a,b\n"16,675",1\n967,2\n"1,200",3\n', [16675, 967, 1200], "read ',' as a thousands separator: a"),
        ('a,b\n"1,234,567.5",1\n12,2\n', [1234567.5, 12], "read ',' as a thousands separator: a"),
        ('a,b\n"12,34,567",1\n"1,200",2\n', [1234567, 1200], "read ',' as a thousands separator: a"),
        ('a,b\n"1,25",1\n"16,675",2\n', [1.25, 16.675], "read ',' as the decimal mark: a"),
        ('a,b\n"16,675",1.5\n967,2\n', [16675, 967], "read ',' as a thousands separator: a"),
        ("a;b\n16.675;0,5\n967;1\n", [16675, 967], "read '.' as a thousands separator: a"),
        ("a;b\n1.234,5;1\n0,25;2\n", [1234.5, 0.25], "read '.' as a thousands separator: a"),
        ("a;b\n16,675;1,5\n967;2\n", [16.675, 967], "semicolon-separated, decimal comma"),
        ("a;b\n16,675;3\n17,200;4\n", [16.675, 17.2], "semicolon-separated, decimal comma"),
        ("a;b\n16,675;3\n16675;4\n", [16.675, 16675], "semicolon-separated, decimal comma"),
        ("a;b\n1 234,5;1\n0,25;2\n", [1234.5, 0.25], "read ' ' as a thousands separator: a"),
        ("a\tb\n1\u202f234\t1\n12\t2\n", [1234, 12], "read ' ' as a thousands separator: a"),
        ("a,b\n1'234.5,1\n12,2\n", [1234.5, 12], 'read "\'" as a thousands separator: a'),
        ('a,b\n"$1,234",1\n$12,2\n-$5,3\n', [1234, 12, -5], "ignored the currency sign $: a"),
        ("a;b\n1.234,50 €;1\n-2,25 €;2\n", [1234.5, -2.25], "ignored the currency sign €: a"),
        ("a,b\n40%,1\n2.5 %,2\n", [40, 2.5], "ignored percent signs: a"),
        ('a,b\n"(1,234)",1\n(5),2\n7,3\n', [-1234, -5, 7], "read numbers in parentheses as negative: a"),
        ("a,b\n\u22125.5,1\n7,3\n", [-5.5, 7], "comma-separated"),
    ],
)
def test_numbers_are_read_as_people_write_them(tmp_path, text, values, note):
    recording = read_text(tmp_path, text)
    assert recording.X[:, 0].tolist() == values
    assert any(note in line for line in recording.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n16,675;1\n967;2\n", "the comma in '16,675' could be a decimal mark, or separate thousands"),
        ("a\tb\n967\t1\n16,675\t2\n", "the comma in '16,675' could be"),
        ('a,b\n"16,675",1\n16675,2\n', "the comma in '16,675' could be"),
        ("a;b\n16.675;1\n967;2\n", "the point in '16.675' could be"),
        ("a\tb\n16.675\t1\n967\t2\n", "the point in '16.675' could be"),
        ('a,b\n"16,675",1\n16.675,2\n', "the point or comma in '16,675' could be"),
        ("a;b\n1,25;1\n1.5;2\n", "writes numbers in two ways, such as '1.5' and '1,25'"),
        ('a,b\n"1,234,567",1\n"0,5",2\n', "writes numbers in two ways, such as '1,234,567' and '0,5'"),
        ("a,b\n40%,1\n0.5,2\n", "numbers with and without a percent sign, such as '40%' and '0.5'"),
        ("a,b\n$40,1\n€5,2\n", r"amounts in several currencies: \$ €"),
        ('a,b\n"1,2,3",1\n4,2\n5,3\n', "1 non-numeric cell, the first being '1,2,3' in row 0"),
    ],
)
def test_columns_that_could_mean_two_things_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=rf"table\.csv: column 'a'.*{message}"):
        read_text(tmp_path, text)


@pytest.mark.parametrize(("decimal", "values"), [(".", [16675, 967]), (",", [16.675, 967])])
def test_the_user_can_say_which_mark_is_decimal(tmp_path, decimal, values):
    assert read_text(tmp_path, "a;b\n16,675;1\n967;2\n", decimal=decimal).X[:, 0].tolist() == values
    other = "1.25" if decimal == "," else "1,25"
    with pytest.raises(ValueError, match=f"column 'b' has 1 non-numeric cell, the first being '{other}'"):
        read_text(tmp_path, f"a;b\n1;{other}\n967;2\n2;3\n", decimal=decimal)


def test_separators_late_in_the_file_count_as_much_as_early_ones(tmp_path):
    early = "a;b\n" + "1,5;967\n" * 500
    assert read_text(tmp_path, early + "1,5;16.675\n").X[-1].tolist() == [1.5, 16675]
    with pytest.raises(ValueError, match=r"column 'b': the point in '16\.675' could be"):
        read_text(tmp_path, early.replace("1,5", "3") + "3;16.675\n")
    early = "a,b\n" + "1.5,967\n" * 500
    assert read_text(tmp_path, early + '1.5,"16,675"\n').X[-1].tolist() == [1.5, 16675]
    assert read_text(tmp_path, early + '1.5,"16,675"\nn/a,3\n', missing="drop").X[-1].tolist() == [1.5, 16675]


def test_percentages_can_be_names_of_columns(tmp_path):
    recording = read_text(tmp_path, "25%,75%\n1,2\n3,4\n")
    assert recording.feature_names == ("25%", "75%")
    assert read_text(tmp_path, "$25,75\n$1,2\n").X.tolist() == [[25, 75], [1, 2]]


@settings(max_examples=300, deadline=None)
@given(
    values=st.lists(st.decimals(-(10**7), 10**7, places=4), min_size=1, max_size=8),
    places=st.integers(0, 4),
    style=st.sampled_from([(".", ","), (".", ""), (".", " "), (".", "'"), (",", "."), (",", ""), (",", " ")]),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    currency=st.sampled_from(["", "", "$", "€ "]),
)
def test_a_column_is_read_as_it_was_meant_or_refused(
    tmp_path_factory, values, places, style, delimiter, currency
):
    decimal, group = style
    meant = [round(value, places) for value in values]
    cells = [f"{value:,.{places}f}".translate({44: group, 46: decimal}) for value in meant]
    text = "".join(f'"{currency}{cell}"{delimiter}word\n' for cell in cells)
    try:
        found = read_text(tmp_path_factory.mktemp("table"), f"a{delimiter}b\n{text}").X[:, 0].tolist()
    except ValueError as error:
        if "decimal=','" in str(error):
            return
        raise
    if found != [float(value) for value in meant]:
        check_that_nobody_could_tell(cells, delimiter)


def check_that_nobody_could_tell(cells, delimiter):
    """Points between commas are decimal marks; else a sign in every number may be, which only scales them."""
    marks = [[sign for sign in cell if sign in ".,"] for cell in cells]
    if delimiter == ",":
        assert all(signs in ([], ["."]) for signs in marks) or all(signs in ([], [","]) for signs in marks)
    else:
        assert all(len(signs) == 1 for signs in marks)
        assert len({sign for signs in marks for sign in signs}) == 1
