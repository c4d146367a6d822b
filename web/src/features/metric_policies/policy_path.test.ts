import { expect, it } from 'vitest'
import { pathOfPolicy } from './policy_path'

it('the name of a policy leads to its page and version', () => {
  expect(pathOfPolicy('by-intervals@12')).toBe('/metric-policies/by-intervals?version=12')
  expect(pathOfPolicy('by-intervals')).toBe('/metric-policies/by-intervals')
})
