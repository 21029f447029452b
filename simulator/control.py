"""Routes for those who test: the ledger, the mode, a reset, faults on order. They need no key and are in no ledger."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from simulator.calls import parse_json
from simulator.errors import invalid_request
from simulator.faults import parse_orders
from simulator.options import MODES
from simulator.responses import json_response
from simulator.state import Simulator


async def show_ledger(request: Request) -> Response:
    """GET: every call and the totals; `?last=N` shows the newest N calls only."""
    last = request.query_params.get("last")
    if last is not None and not (last.isascii() and last.isdigit()):
        raise invalid_request("'last' must be a whole number.", "last")
    return json_response(_simulator(request).ledger.as_json(None if last is None else int(last)))


async def set_mode(request: Request) -> Response:
    """POST {"mode": ...}: the mode holds from now on."""
    body = parse_json(await request.body())
    wanted = body.get("mode") if isinstance(body, dict) else None
    mode = next((known for known in MODES if known == wanted), None)
    if mode is None:
        raise invalid_request(f"'mode' must be one of {', '.join(MODES)}.", "mode")
    _simulator(request).switch(mode)
    return json_response({"mode": mode})


async def reset(request: Request) -> Response:
    """POST: everything is as it was at the start."""
    _simulator(request).reset()
    return json_response({"mode": _simulator(request).mode})


async def order_faults(request: Request) -> Response:
    """POST a list of faults: they will happen, or, where one is wrong, none of them."""
    orders = parse_orders(parse_json(await request.body()))
    answer = {"faults": [order.as_json() for order in orders]}
    _simulator(request).faults.add(orders)
    return json_response(answer)


async def show_faults(request: Request) -> Response:
    """GET: the faults that wait to happen."""
    return json_response({"faults": _simulator(request).faults.waiting()})


def _simulator(request: Request) -> Simulator:
    simulator: Simulator = request.app.state.simulator
    return simulator


ROUTES = [
    Route("/_control/ledger", show_ledger, methods=["GET"]),
    Route("/_control/mode", set_mode, methods=["POST"]),
    Route("/_control/reset", reset, methods=["POST"]),
    Route("/_control/faults", order_faults, methods=["POST"]),
    Route("/_control/faults", show_faults, methods=["GET"]),
]
