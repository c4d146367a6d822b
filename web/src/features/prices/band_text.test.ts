import { expect, it } from 'vitest'
import { en } from '../../i18n/en'
import { fill, type Values } from '../../i18n/language'
import { zh } from '../../i18n/zh'
import { bandText } from './band_text'

const inEnglish = (key: keyof typeof en, values?: Values) => fill(en[key], values)
const inChinese = (key: keyof typeof en, values?: Values) => fill(zh[key], values)

it('a band is told in the reader’s language', () => {
  const band = { days: ['mon' as const, 'tue' as const], from_hour: 8, to_hour: 20, per_unit_hour: '0.50' }
  expect(bandText(inEnglish, band)).toBe('Mon Tue 8–20 h: 0.50 a unit-hour')
  expect(bandText(inChinese, band)).toBe('周一 周二 8–20 时：每单元小时 0.50')
})

it('a band without days holds on all of them, and may have both prices', () => {
  expect(bandText(inEnglish, { per_score_hour: '1', per_unit_hour: '2' })).toBe('0–24 h: 1 a score-hour, 2 a unit-hour')
})
