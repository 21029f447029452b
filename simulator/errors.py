"""The provider's refusals, each with the status, body and headers of the real API. No route decides here."""

import math
from dataclasses import dataclass, field

from simulator.quota import Refusal, duration_text

_UNIT_NAMES = {"requests": "requests per min (RPM)", "tokens": "tokens per min (TPM)"}


@dataclass
class ApiError(Exception):
    """An answer that is an error: `{"error": {"message", "type", "param", "code"}}` with its status."""

    status: int
    message: str
    kind: str
    param: str | None = None
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, object]:
        """The JSON body as the real API words it."""
        return {
            "error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code},
        }


def invalid_request(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """400: the request has a wrong shape; `param` names the field."""
    return ApiError(400, message, "invalid_request_error", param, code)


def unauthorized(message: str = "Incorrect API key provided.") -> ApiError:
    """401: no key, or one that is not accepted."""
    return ApiError(401, message, "invalid_request_error", code="invalid_api_key")


def model_not_found(model: str) -> ApiError:
    """404: no model of this name answers here."""
    message = f"The model `{model}` does not exist or you do not have access to it."
    return ApiError(404, message, "invalid_request_error", "model", "model_not_found")


def insufficient_quota() -> ApiError:
    """429 that no wait mends: the account has no credit left. It carries no Retry-After."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return ApiError(429, message, "insufficient_quota", code="insufficient_quota")


def rate_limited(model: str, refusal: Refusal) -> ApiError:
    """429 with the time to wait, or, for a request above the limit itself, with none, since no wait helps."""
    unit = f"{model} on {_UNIT_NAMES[refusal.unit]}: Limit {refusal.limit}"
    if refusal.wait_seconds is None:
        message = (
            f"Request too large for {unit}, Requested {refusal.requested}. "
            "The input or output tokens must be reduced in order to run successfully."
        )
        return ApiError(429, message, refusal.unit, code="rate_limit_exceeded")
    message = (
        f"Rate limit reached for {unit}, Used {refusal.used}, Requested {refusal.requested}. "
        f"Please try again in {duration_text(refusal.wait_seconds)}."
    )
    return ApiError(429, message, refusal.unit, code="rate_limit_exceeded", headers=_wait_headers(refusal.wait_seconds))


def overloaded() -> ApiError:
    """503: nobody is served now."""
    return ApiError(503, "The engine is currently overloaded, please try again later.", "server_error")


def server_error() -> ApiError:
    """500: the provider failed, the request is not to blame."""
    return ApiError(500, "The server had an error while processing your request. Sorry about that!", "server_error")


def of_status(status: int, model: str) -> ApiError:
    """The error that the real API sends with this status, for a fault that asks for one."""
    if status == 429:
        return rate_limited(model, Refusal("requests", 1, 1, 1, 1.0))
    if status == 401:
        return unauthorized()
    if status == 503:
        return overloaded()
    if status == 500:
        return server_error()
    kind = "server_error" if status > 500 else "invalid_request_error"
    return ApiError(status, f"The provider answered with status {status}.", kind)


def _wait_headers(seconds: float) -> dict[str, str]:
    # Whole seconds are rounded up: a client that obeys the coarse field alone must not come too early.
    return {"Retry-After": str(max(1, math.ceil(seconds))), "retry-after-ms": str(math.ceil(seconds * 1000))}
