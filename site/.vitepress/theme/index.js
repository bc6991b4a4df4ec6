// The usual theme, with the fonts of the reader's system instead of one to load.
export { default } from 'vitepress/theme-without-fonts'
