import { Button, CopyButton as Copy } from '@mantine/core'
import { useText } from '../i18n/language'

export function CopyButton({ value, label }: { value: string; label?: string }) {
  const t = useText()
  return (
    <Copy value={value}>
      {({ copied, copy }) => <Button onClick={copy} aria-live="polite">{copied ? t('ui.copied') : label ?? t('ui.copy')}</Button>}
    </Copy>
  )
}
