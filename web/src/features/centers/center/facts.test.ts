import { expect, it } from 'vitest'
import { factItems } from './facts'

it('facts are flattened, with bytes as bytes', () => {
  expect(factItems({ memory_bytes: 1024, isolation: { uid_per_job: true }, isa: ['avx', 'fma'], kernel: 'Linux' })).toEqual([
    ['isa', 'avx, fma'], ['isolation.uid_per_job', 'true'], ['kernel', 'Linux'], ['memory_bytes', '1.00 KiB']])
})
