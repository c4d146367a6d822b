import {
  Alert, Button, Checkbox, createTheme, type CSSVariablesResolver, type MantineColorsTuple, Modal, NativeSelect, NumberInput,
  PasswordInput, SegmentedControl, Tabs, Textarea, TextInput,
} from '@mantine/core'

// One accent. Shade 7 has a contrast of 6.3 with white, shade 3 one of 8.6 with the dark background.
const accent: MantineColorsTuple = [
  '#eaf1fc', '#cfe0f8', '#a9c8f2', '#86b2ee', '#5b95e3', '#3a7cd8', '#2a6bc9', '#1d5bb8', '#174a97', '#123a78']
const gray: MantineColorsTuple = [
  '#f7f8f9', '#f0f2f4', '#e3e6e9', '#d0d5da', '#b3bac2', '#8b949e', '#626c77', '#4b545e', '#333b44', '#1c2228']
const dark: MantineColorsTuple = [
  '#e2e6ea', '#c3c9d0', '#98a2ad', '#6f7a86', '#3d454e', '#2c333a', '#20262c', '#15191d', '#101417', '#0b0e10']

const size = { size: 'xs' as const }

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  colors: { accent, gray, dark },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.8125rem', lg: '0.875rem', xl: '1rem' },
  headings: { fontWeight: '600' },
  defaultRadius: 4,
  focusRing: 'always',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: Button.extend({ defaultProps: { ...size, variant: 'default' } }),
    TextInput: TextInput.extend({ defaultProps: size }),
    PasswordInput: PasswordInput.extend({ defaultProps: size }),
    NumberInput: NumberInput.extend({ defaultProps: size }),
    NativeSelect: NativeSelect.extend({ defaultProps: size }),
    Textarea: Textarea.extend({ defaultProps: size }),
    Checkbox: Checkbox.extend({ defaultProps: size }),
    SegmentedControl: SegmentedControl.extend({ defaultProps: { ...size, transitionDuration: 0 } }),
    Tabs: Tabs.extend({ defaultProps: { keepMounted: false } }),
    Alert: Alert.extend({ defaultProps: { p: 'xs' } }),
    // Its <header> would count as the page's banner.
    ModalHeader: { defaultProps: { role: 'none' } },
    Modal: Modal.extend({ defaultProps: { centered: true, transitionProps: { duration: 0 }, overlayProps: { backgroundOpacity: 0.4 }, padding: 'md' } }),
  },
})

/** Where Mantine's own colours have too little contrast with what is behind them. */
export const variables: CSSVariablesResolver = () => ({
  variables: { '--mantine-line-height': '1.45' },
  light: {
    '--mantine-color-body': '#ffffff', '--mantine-color-text': '#1c2228', '--mantine-color-dimmed': '#5c6671',
    '--mantine-color-placeholder': '#68727d', '--mantine-color-error': '#b3261e', '--mantine-color-anchor': '#1d5bb8',
    '--mantine-color-default-border': '#d0d5da',
  },
  dark: {
    '--mantine-color-body': '#15191d', '--mantine-color-text': '#e2e6ea', '--mantine-color-dimmed': '#9ba5b0',
    '--mantine-color-placeholder': '#8d97a2', '--mantine-color-error': '#ff8f86', '--mantine-color-anchor': '#86b2ee',
    '--mantine-color-default-border': '#3d454e', '--mantine-color-default': '#1b2025', '--mantine-color-default-hover': '#242a31',
  },
})
