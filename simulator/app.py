"""Puts the routes together. Each route's own rules live in `calls` and `control`."""

from uuid import uuid4

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from simulator import calls, control
from simulator.errors import ApiError, model_not_found, server_error
from simulator.options import CHAT_MODEL, EMBEDDING_MODEL, Options
from simulator.responses import error_response, json_response
from simulator.state import Simulator
from simulator.tokens import chat_tokens, embedding_tokens
from simulator.wire import model_body

MODELS = (CHAT_MODEL, EMBEDDING_MODEL)


class RequestIds:
    """Gives every response an `x-request-id` of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", f"req_{uuid4().hex}".encode())]
            await send(message)

        await self.app(scope, receive, send_with_id)


def build_app(options: Options) -> Starlette:
    """An application with one fresh account behind it."""
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", calls.chat_completions, methods=["POST"]),
            Route("/v1/embeddings", calls.embeddings, methods=["POST"]),
            Route("/v1/models", list_models, methods=["GET"]),
            Route("/v1/models/{model}", show_model, methods=["GET"]),
            Route("/healthz", show_health, methods=["GET"]),
            *control.ROUTES,
        ],
        middleware=[Middleware(RequestIds)],
        exception_handlers={ApiError: _refuse, HTTPException: _refuse_route, Exception: _fail},
    )
    # The token tables load on first use: now, so that the first call is not the slow one.
    chat_tokens("a")
    embedding_tokens("a")
    app.state.simulator = Simulator(options)
    return app


async def list_models(request: Request) -> Response:
    """GET /v1/models."""
    calls.require_key(request)
    created = request.app.state.simulator.started_at
    return json_response({"object": "list", "data": [model_body(model, created) for model in MODELS]})


async def show_model(request: Request) -> Response:
    """GET /v1/models/{model}."""
    calls.require_key(request)
    model = request.path_params["model"]
    if model not in MODELS:
        raise model_not_found(model)
    return json_response(model_body(model, request.app.state.simulator.started_at))


async def show_health(request: Request) -> Response:
    """GET /healthz: alive, and in which mode."""
    return json_response({"status": "ok", "mode": request.app.state.simulator.mode})


async def _refuse(request: Request, error: Exception) -> Response:
    return error_response(error if isinstance(error, ApiError) else server_error())


async def _refuse_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = f"Invalid URL ({request.method} {request.url.path})"
    return error_response(ApiError(status, message, "invalid_request_error"))


async def _fail(request: Request, error: Exception) -> Response:
    return error_response(server_error())
