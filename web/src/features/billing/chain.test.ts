// @vitest-environment node
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkChain, linesOf } from './chain'

function ledger(texts: readonly string[]) {
  let head = '0'.repeat(64)
  return texts.map((said, i) => {
    const text = `entry\t${i + 1}\t${said}`
    const previous_sha256 = head
    head = createHash('sha256').update(`${previous_sha256}\n${text}`).digest('hex')
    return { seq: i + 1, text, previous_sha256, sha256: head }
  })
}

async function* printed(entries: readonly object[]) {
  for (const entry of entries) yield JSON.stringify(entry)
}

describe('the chain of the ledger', () => {
  const entries = ledger(['first', 'zweite ü', 'third'])

  it('holds when nothing was changed', async () => {
    expect(await checkChain(printed(entries))).toEqual({ entries: 3, head: entries[2]?.sha256, brokenAt: null })
    expect(await checkChain(printed([]))).toEqual({ entries: 0, head: '0'.repeat(64), brokenAt: null })
  })

  it('breaks where a text was changed, or an entry is missing', async () => {
    expect((await checkChain(printed(entries.map((e, i) => (i === 1 ? { ...e, text: 'entry\t2\tchanged' } : e))))).brokenAt).toBe(2)
    expect((await checkChain(printed(entries.filter((_, i) => i !== 1)))).brokenAt).toBe(2)
    expect((await checkChain(printed([{}]))).brokenAt).toBe(1)
  })

  it('is read in lines, wherever the stream is cut', async () => {
    const bytes = new TextEncoder().encode('eins ü\nzwei\n\ndrei')
    const stream = new ReadableStream<Uint8Array>({ start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
      controller.close()
    } })
    const lines = []
    for await (const line of linesOf(stream)) lines.push(line)
    expect(lines).toEqual(['eins ü', 'zwei', 'drei'])
  })
})
