import { Button, Group, Modal, type ModalProps } from '@mantine/core'
import { type FormEvent, type ReactNode } from 'react'
import { useText } from '../../i18n/language'
import { ErrorState } from '../states'
import styles from './form_dialog.module.css'

/** A form in a dialog: its fields, what went wrong, and the two ways out. */
export function FormDialog(props: {
  title: string
  action: string
  error?: unknown
  busy?: boolean
  canSubmit?: boolean
  size?: ModalProps['size']
  children: ReactNode
  onSubmit: () => void
  onClose: () => void
}) {
  const t = useText()
  function submit(event: FormEvent) {
    event.preventDefault()
    props.onSubmit()
  }
  return (
    <Modal opened onClose={props.onClose} title={props.title} size={props.size ?? 'md'} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <form onSubmit={submit}>
        <div className={styles.fields}>{props.children}</div>
        {props.error ? <div className={styles.error}><ErrorState error={props.error} /></div> : null}
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" variant="filled" disabled={props.canSubmit === false} loading={props.busy ?? false}>{props.action}</Button>
        </Group>
      </form>
    </Modal>
  )
}
