"""What follows one request through the product: its id, from the door to the provider call, and spans where asked for.

Nothing listens unless `larkfield.tracing` says so: then every span here costs one comparison, and nothing is imported.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

# The id of the request that is answered, or that admitted the job which runs; "" where neither is.
request_id: ContextVar[str] = ContextVar("request_id", default="")
job_id: ContextVar[str] = ContextVar("job_id", default="")

Sort = Literal["request", "job", "step", "call"]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Listener(Protocol):
    """Opens a span. A request begins a trace under `request_id`, a job goes on with it, the others stand inside."""

    def __call__(self, sort: Sort, name: str, attributes: dict[str, Any]) -> AbstractContextManager[Any]: ...


_listener: Listener | None = None
# Called by whoever ends the process without the interpreter's own ending.
end: Callable[[], object] = bool
_NOTHING: AbstractContextManager[None] = nullcontext()


def listen(listener: Listener | None, flush: Callable[[], object] = bool) -> None:
    """Spans go to the listener from now on; None: nowhere. `flush` sends what it holds."""
    global _listener, end
    _listener, end = listener, flush


def span(sort: Sort, name: str, **attributes: Any) -> AbstractContextManager[Any]:
    """What happens inside is one span, if somebody listens."""
    return _NOTHING if _listener is None else _listener(sort, name, attributes)


def step(name: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Each call of the function is a span of this name."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @functools.wraps(function)
        def wrapped(*arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
            with span("step", name):
                return function(*arguments, **options)

        return wrapped

    return decorate


@contextmanager
def working_on(job: object, request: str, **attributes: Any) -> Iterator[None]:
    """Log lines and calls inside carry the job's id and that of the request which admitted it."""
    tokens = job_id.set(str(job)), request_id.set(request)
    try:
        with span("job", "run job", job=str(job), **attributes):
            yield
    finally:
        job_id.reset(tokens[0])
        request_id.reset(tokens[1])
