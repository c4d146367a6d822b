// A log may be far longer than a page can show: only its end is kept.
export const keptBytes = 512 * 1024

export interface LogText {
  text: string
  /** Bytes that were read, also those no longer kept. */
  bytes: number
  isCut: boolean
}

export const emptyLog: LogText = { text: '', bytes: 0, isCut: false }

/** A log with more behind it; cut at the beginning of a line where it gets too long. */
export function append(log: LogText, more: string, bytes: number, most = keptBytes): LogText {
  let text = log.text + more
  let isCut = log.isCut
  if (text.length > most) {
    text = text.slice(-most)
    const line = text.indexOf('\n')
    if (line >= 0 && line < text.length - 1) text = text.slice(line + 1)
    isCut = true
  }
  return { text, bytes: log.bytes + bytes, isCut }
}
