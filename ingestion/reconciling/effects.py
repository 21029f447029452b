"""Invariant 7: each event's one effect, and the checkpoints."""

from ingestion.reconciling.rules import Rule

RULES = [
    Rule(
        7,
        "completed_means_applied",
        "Exactly the events whose job succeeded have an effect, under that job's generation.",
        """
        SELECT format('%%s/%%s', event.producer, event.event_id) FROM ingestion_eventrecord AS event
        JOIN ingestion_job AS job ON job.id = event.job_id
        LEFT JOIN ingestion_eventeffect AS effect ON effect.event_id = event.id
        WHERE (effect.event_id IS NOT NULL) <> (job.state = 'succeeded') OR effect.generation > job.generation
        """,
    ),
    Rule(
        7,
        "effects_are_counted_once",
        "The usage projection has one view, citation and rating for each effect of that type.",
        # Tickets count once for each document that they name: at least one, and more only by the payload.
        """
        SELECT format('%%s: %%s counted, %%s applied', type, counted, applied) FROM (
            SELECT kind.type, kind.counted, count(effect.event_id) AS applied FROM (
                SELECT unnest(ARRAY['document.viewed', 'answer.cited', 'answer.rated']) AS type,
                       unnest(ARRAY[coalesce(sum(views), 0), coalesce(sum(citations), 0), coalesce(sum(ratings), 0)])
                           AS counted
                FROM ingestion_usageday
            ) AS kind
            LEFT JOIN ingestion_eventrecord AS event ON event.type = kind.type
            LEFT JOIN ingestion_eventeffect AS effect ON effect.event_id = event.id
            GROUP BY kind.type, kind.counted
        ) AS totals
        WHERE counted <> applied
        """,
    ),
    Rule(
        7,
        "ratings_are_within_their_scale",
        "A day's rating sum lies between one and five for each of its ratings.",
        """
        SELECT id::text FROM ingestion_usageday WHERE rating_sum NOT BETWEEN ratings AND 5 * ratings
        """,
    ),
    Rule(
        7,
        "checkpoint_is_the_last_effect",
        "A partition's checkpoint is the sequence of the furthest event that was applied, never ahead of it.",
        """
        SELECT coalesce(checkpoint.partition, applied.partition) FROM ingestion_checkpoint AS checkpoint
        FULL JOIN (
            SELECT event.partition, max(job.sequence) AS furthest FROM ingestion_eventeffect AS effect
            JOIN ingestion_eventrecord AS event ON event.id = effect.event_id
            JOIN ingestion_job AS job ON job.id = event.job_id
            GROUP BY event.partition
        ) AS applied ON applied.partition = checkpoint.partition
        WHERE coalesce(checkpoint.last_applied, 0) <> coalesce(applied.furthest, 0)
        """,
    ),
]
