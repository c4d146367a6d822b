export type ParsedJson = { ok: true; value: unknown } | { ok: false; reason: string }

export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** A JSON object; null where the text is something else. */
export function parseObject(text: string): Record<string, unknown> | null {
  const parsed = parseJson(text)
  return parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value)
    ? (parsed.value as Record<string, unknown>) : null
}
