# Regressions and a bootstrap, as statisticians run them.
set.seed(1)
x <- matrix(rnorm(4000 * 60), ncol = 60)
y <- x %*% rnorm(60) + rnorm(4000)
for (i in 1:25) fit <- lm.fit(x, y)
means <- replicate(4000, mean(sample(y, 4000, replace = TRUE)))
s <- svd(x[1:1500, ])
cat(sum(fit$residuals^2), sd(means), sum(s$d), "\n")
