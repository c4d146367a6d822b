CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, amount REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600000)
INSERT INTO orders SELECT i, (i * 7919) % 20000, (i * 104729 % 10007) / 100.0 FROM n;
CREATE INDEX orders_customer ON orders (customer);
SELECT count(*), sum(total) FROM (SELECT customer, sum(amount) AS total FROM orders GROUP BY customer HAVING total > 1000);
SELECT count(*) FROM orders a JOIN orders b ON b.customer = a.customer WHERE a.id < 60000 AND b.amount > 50;
