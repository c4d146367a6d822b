import { expect, it } from 'vitest'
import { append, emptyLog } from './log_text'

it('a log grows, and loses whole lines of its beginning when it is too long', () => {
  let log = append(emptyLog, 'one\ntwo\n', 8, 12)
  expect(log).toEqual({ text: 'one\ntwo\n', bytes: 8, isCut: false })
  log = append(log, 'three\n', 6, 12)
  expect(log).toEqual({ text: 'two\nthree\n', bytes: 14, isCut: true })
})

it('one line that is too long by itself keeps its end', () => {
  expect(append(emptyLog, 'x'.repeat(20), 20, 12).text).toBe('x'.repeat(12))
})
