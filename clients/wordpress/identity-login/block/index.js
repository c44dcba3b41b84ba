// The block in the editor. In the editor, too, the server renders the content of the block.
((wp) => {
  const { createElement } = wp.element;
  wp.blocks.registerBlockType('identity-login/login', {
    edit: () =>
      createElement(
        'div',
        wp.blockEditor.useBlockProps(),
        createElement(wp.serverSideRender, { block: 'identity-login/login' }),
      ),
    save: () => null,
  });
})(window.wp);
