import { expect, it } from 'vitest'
import { looksLikeCron } from './cron'

it('times of schedules are five fields or a word', () => {
  for (const good of ['30 2 * * mon-fri', '*/15 * * * *', '@daily', '@every 900']) expect(looksLikeCron(good)).toBe(true)
  for (const bad of ['', '1 2 3', '@every 5', '@yearly', '* * * * ?']) expect(looksLikeCron(bad)).toBe(false)
})
