-- Parameters of type table are tables here; the others are values such as :since.
SELECT customer, count(*) AS orders, sum(amount) AS amount
FROM orders
WHERE paid AND (:since IS NULL OR ordered_on >= :since)
GROUP BY customer
