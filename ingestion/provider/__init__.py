"""The provider's room: paced, guarded and booked calls. It knows no queue and no document."""
