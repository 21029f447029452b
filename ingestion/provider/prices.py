"""What tokens cost. Pure. The prices are made up for the simulated provider; real ones differ and change."""

import logging
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

logger = logging.getLogger(__name__)

MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, as they stood on `as_of`."""

    prompt: Decimal
    completion: Decimal
    as_of: date


# As of 2026-11-01, made up for the simulated provider; prices change.
PRICES = {
    "chat-small": Price(Decimal("0.15"), Decimal("0.60"), date(2026, 11, 1)),
    "embed-small": Price(Decimal("0.02"), Decimal(0), date(2026, 11, 1)),
}


def cost(model: str, prompt_tokens: int, completion_tokens: int = 0) -> Decimal:
    """US dollars for the tokens, exact; 0 with a warning for a model without a price."""
    price = PRICES.get(model)
    if price is None:
        logger.warning("no price for this model, booked as 0", extra={"model": model})
        return Decimal(0)
    return (price.prompt * prompt_tokens + price.completion * completion_tokens) / MILLION
