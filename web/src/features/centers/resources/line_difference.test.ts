import { expect, test } from 'vitest'
import { lineDifference } from './line_difference'

test('lines that go and come stand in their place', () => {
  const marks = lineDifference('a\nb\nc', 'a\nx\nc\nd').map((l) => `${l.kind[0]}${l.text}`)
  expect(marks).toEqual(['sa', 'gb', 'nx', 'sc', 'nd'])
})

test('equal texts have no other lines', () => {
  expect(lineDifference('a\nb', 'a\nb').every((l) => l.kind === 'same')).toBe(true)
})
