import { expect, it } from 'vitest'
import { fill } from '../../i18n/language'
import { zh } from '../../i18n/zh'
import { changeText, rungText } from './code_text'

const t = (key: keyof typeof zh) => fill(zh[key])

it('codes of a decision have words in the reader’s language, and those that are not known keep their own', () => {
  expect([changeText(t, 'budget'), changeText(t, 'weather')]).toEqual(['预算', 'weather'])
  expect([rungText(t, 'operators'), rungText(t, 'weather')]).toEqual(['其各算子之和', 'weather'])
})
