import { SegmentedControl, Textarea } from '@mantine/core'
import { useText } from '../../i18n/language'
import type { Format } from '../../ui/document_text'
import styles from './submit.module.css'

export function JobTextPane(props: {
  text: string
  format: Format
  broken: string
  onText: (text: string) => void
  onFormat: (format: Format) => void
}) {
  const t = useText()
  const name = props.format.toUpperCase()
  return (
    <div className={styles.textPane}>
      <div className={styles.textHead}>
        <h2>{t('submit.text')}</h2>
        <SegmentedControl aria-label={t('submit.format')} value={props.format} onChange={(value) => props.onFormat(value as Format)}
          data={[{ value: 'yaml', label: 'YAML' }, { value: 'json', label: 'JSON' }]} />
      </div>
      <Textarea aria-label={t('submit.text.label', { format: name })} value={props.text} autosize minRows={14} maxRows={40} spellCheck={false}
        classNames={{ input: styles.code ?? '' }} error={props.broken ? t('submit.text.broken', { format: name, error: props.broken }) : undefined}
        description={t('submit.text.hint')} inputWrapperOrder={['input', 'error', 'description']} onChange={(e) => props.onText(e.currentTarget.value)} />
    </div>
  )
}
