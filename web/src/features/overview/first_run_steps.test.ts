import { expect, it } from 'vitest'
import { type Beginnings, firstRunSteps } from './first_run_steps'

const done = (change: Partial<Beginnings>) =>
  firstRunSteps({ onlineCenterCount: 0, isMeasured: false, hasEndedJob: false, ...change }).filter((step) => step.isDone).map((step) => step.id)

it('the steps stay in order, whatever is done', () => {
  expect(firstRunSteps({ onlineCenterCount: 0, isMeasured: true, hasEndedJob: false }).map((step) => step.id)).toEqual(['enrol', 'measure', 'submit'])
})

it('one center is not enough: there is nothing to choose yet', () => {
  expect(done({ onlineCenterCount: 0 })).toEqual([])
  expect(done({ onlineCenterCount: 1 })).toEqual([])
  expect(done({ onlineCenterCount: 2 })).toEqual(['enrol'])
})

it('each step is done by what has happened, not by the one before', () => {
  expect(done({ onlineCenterCount: 1, isMeasured: true })).toEqual(['measure'])
  expect(done({ hasEndedJob: true })).toEqual(['submit'])
  expect(done({ onlineCenterCount: 5, isMeasured: true, hasEndedJob: true })).toEqual(['enrol', 'measure', 'submit'])
})
