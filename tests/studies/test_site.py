"""Our docstrings on the site: what a name is stands where numpydoc has its description."""

from studies.site import described

OURS = """Say something : as it is.

Parameters
----------
group, other : what is asked;
    see :class:`~groups.group.Group`
limit : in seconds

Returns
-------
dict
    By name : what was found.
"""
NUMPYDOC = """Say something : as it is.

Parameters
----------
group, other
    what is asked;
    see `Group`
limit
    in seconds

Returns
-------
dict
    By name : what was found.
"""


def test_the_words_after_a_name_stand_below_it():
    assert described(OURS) == NUMPYDOC
    assert described(NUMPYDOC) == NUMPYDOC
