"""Settings: what users choose of an assignor, as attributes of its class."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from groups.errors import BadInput
from live.assignor.planned import optimum

if TYPE_CHECKING:
    from typing import Self

    from live.assignor.planned import Solver


class Settings:
    """What users choose of an assignor.

    The clients take a class and make the object, if any, themselves. So settings are attributes
    of the class; :meth:`with_` makes a class that has others, and so does a subclass.

    Attributes
    ----------
    name : of the assignor, the same in every client
    time_limit : seconds for the plan, in the leader. It sends no heartbeats meanwhile: keep this
        well below the session timeout
    settable : the settings that users may choose
    loaded : what a plan needs, loaded when a consumer joins
    """

    name: ClassVar[str] = "assay-optimal"
    time_limit: ClassVar[float] = 2.0
    settable: ClassVar[tuple[str, ...]] = ("time_limit",)
    loaded: ClassVar[tuple[str, ...]] = (
        "groups.group",
        "optimal.solve",
        "optimal.flow.algorithm",
        "optimal.networks.solvers",
    )

    def __init_subclass__(cls) -> None:
        """Check the settings."""
        cls.check_settings()

    @classmethod
    def check_settings(cls) -> None:
        """Raise BadInput where a setting cannot be what it is."""
        limit = cls.time_limit
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
            raise BadInput(f"{cls.__name__}: time_limit: {limit!r}, expected seconds above 0")

    @classmethod
    def with_(cls, **settings: object) -> type[Self]:
        """Return the class with other settings.

        Raises
        ------
        BadInput
            Where there is no such setting, or it cannot be that.

        Examples
        --------
        >>> from live.kafka_python import OptimalAssignor
        >>> OptimalAssignor.with_(time_limit=0.5).time_limit
        0.5
        """
        for name in settings.keys() - {*cls.settable}:
            known = ", ".join(cls.settable)
            raise BadInput(f"{cls.__name__}: no setting {name!r}, expected one of {known}")
        return type(cls.__name__, (cls,), {"__module__": cls.__module__, **settings})

    @classmethod
    def require_settings(cls) -> None:
        """Raise BadInput where a setting is missing."""

    @classmethod
    def solver(cls) -> Solver:
        """Return what makes the plan."""
        return partial(optimum, time_limit=cls.time_limit)
