// The block in the editor. The server makes its content here, as it does on the page.
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
