import { describe, expect, it } from 'vitest'
import { en } from '../../../i18n/en'
import { fill, type Translate } from '../../../i18n/language'
import { zh } from '../../../i18n/zh'
import { leftOutFacts } from './left_out'

const english: Translate = (key, values) => fill(en[key], values)
const chinese: Translate = (key, values) => fill(zh[key], values)

describe('what a job has no room for', () => {
  it('is nothing where there is room for all', () => {
    expect(leftOutFacts({ unlisted: { count: 0, share: 0 }, unprobed: { count: 0, share: 0 } }, english)).toEqual([])
  })

  it('is told with its share of the run time', () => {
    const known = { unlisted: { count: 2, share: 0.01 }, unprobed: { count: 48, share: 0.375 } }
    expect(leftOutFacts(known, english)).toEqual([
      ['Not listed', '2 of its operators, 1 % of the run time: a job has at most 64. They count as the rest of the run.'],
      ['Not probed', '48 of its operators, 37.5 % of the run time: a probe task measures at most 16. '
        + 'They are predicted from other sizes, else as the rest of the run.'],
    ])
    expect(leftOutFacts(known, chinese).map(([name]) => name)).toEqual(['未列出', '未测量'])
    expect(leftOutFacts(known, chinese)[1]?.[1]).toContain('48 个算子，占运行时间 37.5 %')
  })

  it('is told without a share where one is not known', () => {
    const facts = leftOutFacts({ unlisted: { count: 0, share: 0 }, unprobed: { count: 3, share: null } }, english)
    expect(facts.map(([, text]) => text.split(':')[0])).toEqual(['3 of its operators'])
  })
})
