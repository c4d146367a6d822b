% Dense linear algebra and transforms as a script does them.
rand("state", 7);
A = rand(1500) + 1500 * eye(1500);
b = rand(1500, 8);
for step = 1:6
  x = A \ b;
  b = b + 1e-3 * x;
end
S = A(1:600, 1:600); S = S + S';
[V, D] = eig(S);
s = svd(A(1:500, 1:500));
F = zeros(1024);
for step = 1:4
  F = fft2(rand(1024));
  F = real(ifft2(F .* conj(F)));
end
printf("%g %g %g %g\n", x(1), D(1, 1), s(1), F(1));
