"""A few short policies that the HTTP tests ask about; all of it is made up."""

RETURNS = """\
---
title: Returns
---
# Returns

This policy says how long a customer may send something back.

## The standard period

A customer has **30 days** to return an item bought online or in a store. The count starts on the day after delivery.

## Product groups with their own period

| Product group | Period |
|---|---|
| Electronics (phones, tablets, cameras) | 14 days |
| Mattresses | 100 nights |
"""
LATER_RETURNS = RETURNS.replace("30 days", "45 days")
REFUNDS = """\
# Refunds

## When the money arrives

The refund is sent within 5 working days after the parcel was checked at the returns centre.

## Gift cards

A purchase that was paid with a gift card is refunded to a new gift card.
"""
GIFT_CARDS = """\
# Gift cards

## Validity

A gift card is valid for 3 years from the day on which it was bought. It can't be exchanged for cash.
"""
