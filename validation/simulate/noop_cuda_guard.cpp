// A CPU build of PyTorch knows no CUDA device, so its autograd refuses tensors that claim to live on one.
// Register PyTorch's own do-nothing device guard for CUDA, and hooks that answer "one device, nothing running".
// No CUDA code is ever run: all tensors are fake.
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

using c10::Device;
using c10::DeviceType;
using c10::Stream;

struct Guard final : c10::impl::NoOpDeviceGuardImpl<DeviceType::CUDA> {
  static Stream only_stream() { return Stream(Stream::DEFAULT, Device(DeviceType::CUDA, 0)); }
  Device getDevice() const override { return Device(DeviceType::CUDA, 0); }
  Device exchangeDevice(Device) const override { return Device(DeviceType::CUDA, 0); }
  Stream getStream(Device) const noexcept override { return only_stream(); }
  Stream exchangeStream(Stream) const noexcept override { return only_stream(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

Guard guard;
c10::impl::DeviceGuardImplRegistrar registrar(DeviceType::CUDA, &guard);

}  // namespace

// The registry finds the class by this very name.
struct CUDAHooks final : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
};

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
}
