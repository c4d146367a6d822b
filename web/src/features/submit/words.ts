/** The words of a command line: by blanks, with '…' and "…" around what holds some. Nothing is expanded. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let i = 0; i < line.length; ++i) {
    const c = line[i] ?? ''
    if (quote) {
      if (c === quote) quote = ''
      else if (c === '\\' && quote === '"' && /["\\]/.test(line[i + 1] ?? '')) word = (word ?? '') + (line[++i] ?? '')
      else word = (word ?? '') + c
    } else if (c === '"' || c === "'") {
      quote = c
      word ??= ''
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word)
      word = null
    } else if (c === '\\' && i + 1 < line.length) word = (word ?? '') + (line[++i] ?? '')
    else word = (word ?? '') + c
  }
  if (word !== null) words.push(word)
  return words
}

/** The command line of words: what splitWords() splits into them again. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (/^[^\s"'\\]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`)).join(' ')
}

/** m=512, n=64 as {m: 512, n: 64}; null where it is something else. */
export function parseSize(text: string): Record<string, number> | null {
  const size: Record<string, number> = {}
  for (const part of text.split(/[,\s]+/).filter((p) => p !== '')) {
    const match = /^(\w+)=(\d+)$/.exec(part)
    if (!match?.[1]) return null
    size[match[1]] = Number(match[2])
  }
  return size
}

export function sizeText(size: Readonly<Record<string, number>> | undefined): string {
  return Object.entries(size ?? {}).map(([name, value]) => `${name}=${value}`).join(', ')
}
