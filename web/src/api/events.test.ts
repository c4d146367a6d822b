import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseEvent, throttle } from './events'

describe('events', () => {
  it('are read, and what is none is left alone', () => {
    expect(parseEvent('{"id":1,"job_id":"job_1","at":"","state":"running","cause":"","evidence":{}}')?.state).toBe('running')
    expect(parseEvent('{"id":1}')).toBeNull()
    expect(parseEvent('no JSON')).toBeNull()
    expect(parseEvent('null')).toBeNull()
  })
})

describe('throttle', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  it('runs at once, and once more for all that came meanwhile', () => {
    const run = vi.fn()
    const throttled = throttle(run, 1000)
    for (let i = 0; i < 50; ++i) throttled.call()
    expect(run).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(1000)
    expect(run).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(5000)
    expect(run).toHaveBeenCalledTimes(2)
  })
})
