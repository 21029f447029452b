-- Guarantee: each given document's day has grown by its numbers, whoever adds to the same row at the same moment; rows
-- are locked in the order of the arrays (ascending documents), so that two tickets never wait for each other in a ring.
INSERT INTO ingestion_usageday AS usage
    (document_id, version_number, date, views, citations, ratings, rating_sum, resolved)
SELECT document, version, %(date)s, views, citations, ratings, rating_sum, resolved
FROM unnest(
    %(documents)s::bigint[], %(versions)s::int[], %(views)s::bigint[], %(citations)s::bigint[],
    %(ratings)s::bigint[], %(rating_sum)s::bigint[], %(resolved)s::bigint[]
) AS added(document, version, views, citations, ratings, rating_sum, resolved)
ON CONFLICT (document_id, version_number, date) DO UPDATE
SET views = usage.views + EXCLUDED.views, citations = usage.citations + EXCLUDED.citations,
    ratings = usage.ratings + EXCLUDED.ratings, rating_sum = usage.rating_sum + EXCLUDED.rating_sum,
    resolved = usage.resolved + EXCLUDED.resolved
