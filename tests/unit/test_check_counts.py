# SPDX-License-Identifier: BSD-2-Clause
"""How tools/check reads what test programs say: a lie here would hide failures."""

import pytest
from checkkit import suites
from checkkit.tally import Count, Tally


@pytest.mark.parametrize(
    "status,output,count",
    [
        (0, "noise\nname: 12 passed, 0 failed\n", Count(12, 0, 0)),
        (1, "name: 11 passed, 1 failed\n", Count(11, 1, 0)),
        (0, "name: 3 passed, 0 failed, 2 skipped\n", Count(3, 0, 2)),
        (0, "no count at all\n", Count(1, 0, 0)),
        (0, "", Count(1, 0, 0)),
        (1, "", Count(0, 1, 0)),
        (77, "not on this machine\n", Count(0, 0, 1)),
    ],
)
def test_counts_are_read_from_the_last_line_or_the_exit_status(status, output, count):
    assert suites.count_output(status, output) == count


def test_a_crash_after_a_clean_last_line_is_a_failure():
    assert suites.count_output(-11, "name: 12 passed, 0 failed\n").failed == 1


def test_a_count_before_the_last_line_does_not_count():
    assert suites.count_output(1, "name: 12 passed, 0 failed\nSegmentation fault\n") == Count(0, 1, 0)


def test_junit_errors_and_failures_are_failures(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>')
    assert suites.junit_count(str(report)) == Count(3, 3, 3)


def test_junit_names_the_failed_tests(tmp_path):
    report = tmp_path / "report.xml"
    cases = '<testcase name="a"/><testcase name="b[x]"><failure/></testcase><testcase name="c"><error/></testcase>'
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert suites.junit_failed(str(report)) == ["b[x]", "c"]
    assert suites.junit_failed(str(tmp_path / "absent.xml")) == []


def test_no_junit_file_is_no_count(tmp_path):
    assert suites.junit_count(str(tmp_path / "absent.xml")) is None


def test_a_program_over_its_time_is_ended_and_fails():
    status, output, seconds = suites._run(["sleep", "30"], "/", None, 0.3)
    assert status != 0 and seconds < 10
    assert "ended after" in output


@pytest.mark.parametrize(
    "counts,status,last",
    [
        ([], 1, "0 passed, 0 failed"),
        ([Count(2, 0, 0), Count(3, 0, 1)], 0, "5 passed, 0 failed, 1 skipped"),
        ([Count(2, 0, 0), Count(3, 1, 0)], 1, "5 passed, 1 failed"),
        ([Count(0, 0, 4)], 1, "0 passed, 0 failed, 4 skipped"),
    ],
)
def test_the_last_line_sums_up_and_nothing_run_is_a_failure(capsys, counts, status, last):
    tally = Tally()
    for count in counts:
        tally.add("unit", "some", count, 0.1)
    assert tally.finish() == status
    assert capsys.readouterr().out.splitlines()[-1] == last
