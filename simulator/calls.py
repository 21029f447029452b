"""The way of one call to a model: mode, key, shape, fault, quota, time, answer. What a reply says lives elsewhere."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from hashlib import blake2b

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from simulator import chat, vectors
from simulator.errors import ApiError, invalid_request, overloaded, server_error, unauthorized
from simulator.faults import ROW_FAULTS, error_of, spoiled
from simulator.latency import FIRST_TOKEN_SHARE, chat_seconds, embedding_seconds
from simulator.ledger import Call, Ledger
from simulator.options import CallPath
from simulator.responses import NoAnswer, error_response, hang, hang_up, json_response, stays_for
from simulator.shapes import parse_chat
from simulator.state import MODELS, Simulator
from simulator.wire import DONE, completion_body, completion_events, embeddings_body, event

SSE = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Visit:
    """One call on its way, with the ledger it was opened in: a reset must not be counted into by older calls."""

    request: Request
    simulator: Simulator
    path: CallPath
    ledger: Ledger
    call: Call

    def settle(self, status: int) -> None:
        """The call counts as answered with this status."""
        self.ledger.settle(self.call, status)


Answer = Callable[[Visit, bytes], Awaitable[Response]]


async def chat_completions(request: Request) -> Response:
    """POST /v1/chat/completions."""
    return await _visit(request, "chat/completions", _chat)


async def embeddings(request: Request) -> Response:
    """POST /v1/embeddings."""
    return await _visit(request, "embeddings", _embeddings)


def require_key(request: Request) -> None:
    """Any bearer key that is not empty is accepted; ApiError 401 otherwise."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise unauthorized("You didn't provide an API key in an Authorization header, as in Bearer YOUR_KEY.")


def parse_json(raw: bytes) -> object:
    """The body's JSON value; ApiError 400 where it is none, or where it holds half a character (a lone surrogate)."""
    try:
        value: object = json.loads(raw.decode("utf-8-sig"))
        if b"\\u" in raw:
            # Only an escape can still spell one; what can't be encoded could neither be counted nor sent back.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError):
        raise invalid_request("We could not parse the JSON body of your request.") from None


async def _visit(request: Request, path: CallPath, answer: Answer) -> Response:
    simulator: Simulator = request.app.state.simulator
    call = simulator.ledger.open(path, request.headers.get("x-client-request-id"))
    visit = Visit(request, simulator, path, simulator.ledger, call)
    try:
        raw = await request.body()
        if simulator.mode == "outage":
            raise overloaded()
        require_key(request)
        return await answer(visit, raw)
    except ApiError as error:
        visit.settle(error.status)
        return error_response(error)
    except ClientDisconnect:
        return NoAnswer()


async def _chat(visit: Visit, raw: bytes) -> Response:
    seed = visit.simulator.options.seed
    fingerprint = _fingerprint(seed, raw)
    asked = parse_chat(parse_json(raw))
    visit.call.model, visit.call.inputs = MODELS[visit.path], 1
    completion = chat.complete(asked, seed, f"chatcmpl-{fingerprint}", int(time.time()))
    fault = visit.simulator.next_fault(visit.path)
    breaks_off = asked.stream and fault == "disconnect"
    if fault and not breaks_off:
        return await _faulty(visit, fault, asked.stream)
    headers = _charge(visit, completion.total_tokens, fault)
    seconds = visit.simulator.pace(chat_seconds(seed, fingerprint))
    if asked.stream:
        events = list(completion_events(completion, asked.include_usage))
        if breaks_off:
            events = events[: max(1, len(events) // 2)]
        return StreamingResponse(_streamed(visit, events, seconds, breaks_off), headers=headers, media_type=SSE)
    return await _after(visit, seconds, lambda: json_response(completion_body(completion), headers=headers))


async def _embeddings(visit: Visit, raw: bytes) -> Response:
    seed = visit.simulator.options.seed
    counted = vectors.parse(parse_json(raw))
    visit.call.model, visit.call.inputs = MODELS[visit.path], len(counted.texts)
    fault = visit.simulator.next_fault(visit.path)
    if fault and fault not in ROW_FAULTS:
        return await _faulty(visit, fault, False)
    headers = _charge(visit, counted.tokens, fault)
    seconds = visit.simulator.pace(embedding_seconds(seed, _fingerprint(seed, raw), len(counted.texts)))
    # In a thread: a full batch is a second of arithmetic, in which the other calls must go on.
    rows = await asyncio.to_thread(vectors.rows, counted)
    if fault:
        rows = spoiled(fault, rows, seed)
    body = embeddings_body(rows, counted.encoding_format, counted.tokens)
    return await _after(visit, seconds, lambda: json_response(body, headers=headers))


def _charge(visit: Visit, tokens: int, fault: str | None) -> dict[str, str]:
    headers = visit.simulator.charge(visit.path, tokens)
    visit.ledger.charge(visit.call, tokens)
    if fault:
        # Only now: a call that the quota refused has not met the fault that spoils its answer.
        visit.simulator.faults.consume(visit.path)
    return headers


async def _faulty(visit: Visit, fault: str, streamed: bool) -> Response:
    """The answer of a fault that stands in for the whole answer. It costs nothing."""
    simulator = visit.simulator
    if simulator.faults.peek(visit.path) == fault:
        simulator.faults.consume(visit.path)
    if error := error_of(fault, MODELS[visit.path]):
        raise error
    if fault == "error_body_200":
        visit.settle(200)
        body = server_error().body()
        return Response(event(body), media_type=SSE) if streamed else json_response(body)
    if fault == "timeout":
        await hang(visit.request, simulator.hung, simulator.options.hang_seconds)
    return NoAnswer(reset=fault == "reset")


async def _after(visit: Visit, seconds: float, answer: Callable[[], Response]) -> Response:
    # Counted from the arrival: our own arithmetic is part of the time a provider takes, not on top of it.
    if not await stays_for(visit.request, visit.call.started + seconds - time.monotonic()):
        return NoAnswer()
    visit.settle(200)
    return answer()


async def _streamed(visit: Visit, events: list[bytes], seconds: float, breaks_off: bool) -> AsyncIterator[bytes]:
    """The events over the seconds, the first after its share; the call is settled just before the last of them."""
    pause = seconds * (1 - FIRST_TOKEN_SHARE) / len(events)
    await asyncio.sleep(seconds * FIRST_TOKEN_SHARE)
    for one in events:
        yield one
        await asyncio.sleep(pause)
    if breaks_off:
        hang_up(visit.request.scope, reset=False)
        await asyncio.Event().wait()  # until the server notices and cancels this stream
    visit.settle(200)
    yield DONE


def _fingerprint(seed: int, raw: bytes) -> str:
    return blake2b(raw, digest_size=12, key=str(seed).encode()).hexdigest()
