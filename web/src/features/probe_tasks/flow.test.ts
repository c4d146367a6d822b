import { expect, it } from 'vitest'
import { flowSteps } from './flow'

it('operators stand after those that feed them', () => {
  // The example of M5.
  const nodes = [{ label: 'P3', inputs: ['P1', 'P2'] }, { label: 'P1', inputs: [] }, { label: 'P2', inputs: [] }]
  expect(flowSteps(nodes)?.map((step) => step.map((node) => node.label))).toEqual([['P1', 'P2'], ['P3']])
})

it('a circle is found', () => {
  expect(flowSteps([{ label: 'a', inputs: ['b'] }, { label: 'b', inputs: ['a'] }])).toBeNull()
})
