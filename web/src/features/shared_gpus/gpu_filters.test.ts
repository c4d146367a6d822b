import { expect, test } from 'vitest'
import { filterGpus, parseView, takenShare } from './gpu_filters'

test('GPUs are found by whether they are shared, and by whether some program did not fit', () => {
  const gpus = [{ gpu: 'a', is_shared: true, refused_count: 0 }, { gpu: 'b', is_shared: false, refused_count: 2 }, { gpu: 'c', is_shared: false, refused_count: 0 }]
  const found = (view: string) => filterGpus(gpus, parseView(view)).map((one) => one.gpu)
  expect(found('')).toEqual(['a', 'b', 'c'])
  expect(found('shared')).toEqual(['a'])
  expect(found('refused')).toEqual(['b'])
  // An address that somebody wrote by hand.
  expect(found('nonsense')).toEqual(['a', 'b', 'c'])
})

test('what is taken is what stays, and once what each has in its turn', () => {
  expect(takenShare({ capacity_bytes: 80, persistent_bytes: 30, temporary_bytes: 10 })).toBe(0.5)
  expect(takenShare({ capacity_bytes: 0, persistent_bytes: 0, temporary_bytes: 0 })).toBe(0)
})
