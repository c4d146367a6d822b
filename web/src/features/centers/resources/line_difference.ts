export interface Line {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** What turns one text into another, line by line. */
export function lineDifference(before: string, after: string): Line[] {
  const old = before.split('\n')
  const now = after.split('\n')
  // common[i][j]: how many lines those from i and from j on have in common, in their order.
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  const at = (i: number, j: number) => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; --i) {
    const row = common[i] ?? []
    for (let j = now.length - 1; j >= 0; --j) row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i++] ?? '' })
      ++j
    } else if (j === now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'gone', text: old[i++] ?? '' })
    } else {
      lines.push({ kind: 'new', text: now[j++] ?? '' })
    }
  }
  return lines
}
