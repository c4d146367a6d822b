import { FileButton, Button, Group, Textarea } from '@mantine/core'
import { useText } from '../i18n/language'
import { parseJson } from './json_text'

/** A JSON document to be typed, pasted, or read from a file. What is wrong with it is said under it. */
export function JsonField(props: { label: string; hint?: string; value: string; rows?: number; error?: string; onChange: (value: string) => void }) {
  const t = useText()
  const parsed = parseJson(props.value)
  const wrong = props.value.trim() !== '' && !parsed.ok ? t('measure.json.wrong', { reason: parsed.reason }) : props.error
  return (
    <div>
      <Textarea label={props.label} description={props.hint} value={props.value} rows={props.rows ?? 16} spellCheck={false}
        error={wrong} styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={(e) => props.onChange(e.currentTarget.value)} />
      <Group mt={6}>
        <FileButton accept="application/json,.json" onChange={(file) => void file?.text().then(props.onChange)}>
          {(button) => <Button {...button}>{t('measure.json.file')}</Button>}
        </FileButton>
      </Group>
    </div>
  )
}
