/** What the ledger's export says, entry by entry. */
export interface ChainCheck {
  entries: number
  /** The hash of the last entry that holds. */
  head: string
  /** The first entry that does not follow from the one before; null: all do. */
  brokenAt: number | null
}

async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

interface Entry {
  text?: unknown
  previous_sha256?: unknown
  sha256?: unknown
}

function parse(line: string): Entry {
  try {
    return JSON.parse(line) as Entry
  } catch {
    return {}
  }
}

/** Checks that each entry's hash is that of the hash before, a line end, and its text; with no step taken on trust. */
export async function checkChain(lines: AsyncIterable<string>): Promise<ChainCheck> {
  let head = '0'.repeat(64)
  let entries = 0
  for await (const line of lines) {
    const entry = parse(line)
    // The number counts as the text has it: the text is what hashes cover.
    const isNext = typeof entry.text === 'string' && entry.text.startsWith(`entry\t${entries + 1}\t`) && entry.previous_sha256 === head
    const hash = isNext ? await sha256(`${head}\n${String(entry.text)}`) : ''
    if (!isNext || hash !== entry.sha256) return { entries, head, brokenAt: entries + 1 }
    head = hash
    ++entries
  }
  return { entries, head, brokenAt: null }
}

/** The lines of a stream of bytes, one after the other: a long ledger is never held as a whole. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line) yield line
    if (done) break
  }
  if (rest) yield rest
}
