"""A plain loop of Python: no library computes anything."""
primes, number = [], 2
while len(primes) < 22000:
    for prime in primes:
        if prime * prime > number:
            primes.append(number)
            break
        if number % prime == 0:
            break
    else:
        primes.append(number)
    number += 1
print(primes[-1])
