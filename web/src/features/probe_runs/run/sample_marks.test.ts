import { expect, it } from 'vitest'
import { zh } from '../../../i18n/zh'
import { causeText, samplesOf } from './sample_marks'

it('samples keep their order and say what was seen', () => {
  const samples = samplesOf({ samples_s: [1, 9, 1], outliers: [1], disturbed: [{ sample: 2, causes: ['load'] }] })
  expect(samples).toEqual([
    { number: 1, seconds: 1, isOutlier: false, causes: [] }, { number: 2, seconds: 9, isOutlier: true, causes: [] },
    { number: 3, seconds: 1, isOutlier: false, causes: ['load'] }])
})

it('what disturbed a sample is told in words', () => {
  expect(causeText((key) => zh[key], 'preempted')).toBe('被抢占')
  expect(causeText((key) => zh[key], 'moonlight')).toBe('moonlight')
})
