# SPDX-License-Identifier: BSD-2-Clause
"""The configuration file of a lab's balancer, replaced whole by a rename as an operator's tools would."""

import os


def config_file(lab):
    return lab.config_path(lab.plan.node("lb1"))


def read(lab):
    with open(config_file(lab), encoding="utf-8") as stream:
        return stream.read()


def write(lab, text, path=""):
    """`path`: another file than the configuration itself."""
    path = path or config_file(lab)
    with open(f"{path}.new", "w", encoding="utf-8") as stream:
        stream.write(text)
    os.rename(f"{path}.new", path)


def edit(lab, before, after):
    text = read(lab)
    assert before in text
    write(lab, text.replace(before, after))
